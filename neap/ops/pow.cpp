// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/pow.hpp"

#include "neap/kernels/pow.hpp"
#include "neap/ops/compare.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/log.hpp"
#include "neap/ops/logical_and.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/reciprocal.hpp"
#include "neap/ops/rsqrt.hpp"
#include "neap/ops/sqrt.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/where.hpp"

namespace neap {
namespace ops {
namespace {

// b a^(b - 1), 0 where b is 0.
Tensor slope_of_base(const Tensor& a, const Tensor& b) {
  return where(eq(b, 0), 0, mul(b, pow(a, sub(b, 1))));
}

// y ln a, 0 where 0 is raised to no less than 0.
Tensor slope_of_exponent(const Tensor& a, const Tensor& b, const Tensor& y) {
  return where(logical_and(eq(a, 0), ge(b, 0)), 0, mul(y, log(a)));
}

}  // namespace

const Op kPow{.name = "pow",
              .formula = "y = a^b, da = dy b a^(b - 1), db = dy y ln a",
              .infer =
                  [](const OpArgs& args, std::span<Spec> out) {
                    infer_broadcast_floating("pow", args, out[0]);
                  },
              .kernel = &kernels::pow_kernels,
              .vjp =
                  [](VjpContext& c) {
                    const Tensor a = c.input(0);
                    const Tensor b = c.input(1);
                    if (c.needs(0)) {
                      c.set(0, sum_to(mul(c.cotangent(), slope_of_base(a, b)),
                                      c.input_shape(0)));
                    }
                    if (c.needs(1)) {
                      c.set(1, sum_to(mul(c.take_cotangent(),
                                          slope_of_exponent(a, b, c.output())),
                                      c.input_shape(1)));
                    }
                  },
              .jvp =
                  [](JvpContext& c) {
                    const Tensor& a = c.input(0);
                    const Tensor& b = c.input(1);
                    Tensor d;
                    if (c.tangent(0).defined()) {
                      d = mul(c.tangent(0), slope_of_base(a, b));
                    }
                    if (c.tangent(1).defined()) {
                      d = add_defined(std::move(d),
                                      mul(c.tangent(1),
                                          slope_of_exponent(a, b, c.output())));
                    }
                    c.set(0, std::move(d));
                  },
              .facts = {.vjp_reads = {{{.inputs = 0b11},
                                       {.inputs = 0b11, .outputs = 0b1}}},
                        .donates = 0b11}};

}  // namespace ops

Tensor pow(const Operand& a, const Operand& b) {
  if (b.is_number() && !a.is_number()) {
    const double exponent = b.number();
    if (exponent == 2.0) {
      return square(a);
    }
    if (exponent == 0.5) {
      return sqrt(a);
    }
    if (exponent == -0.5) {
      return rsqrt(a);
    }
    if (exponent == -1.0) {
      return reciprocal(a);
    }
  }
  const ops::Operands both("pow", a, b);
  return graph::apply(ops::kPow, {both.a(), both.b()});
}

}  // namespace neap
