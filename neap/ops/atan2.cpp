// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/atan2.hpp"

#include "neap/kernels/inverse_trig.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kAtan2{
    .name = "atan2",
    .formula =
        "y = angle of (b, a), da = dy b / (a^2 + b^2), db = -dy a / (a^2 + "
        "b^2)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_broadcast_floating("atan2", args, out[0]);
        },
    .kernel = &kernels::atan2_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor a = c.input(0);
          const Tensor b = c.input(1);
          const Tensor d = div(c.take_cotangent(), add(square(a), square(b)));
          if (c.needs(0)) {
            c.set(0, sum_to(mul(d, b), c.input_shape(0)));
          }
          if (c.needs(1)) {
            c.set(1, neg(sum_to(mul(d, a), c.input_shape(1))));
          }
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor& a = c.input(0);
          const Tensor& b = c.input(1);
          Tensor d;
          if (c.tangent(0).defined()) {
            d = mul(c.tangent(0), b);
          }
          if (c.tangent(1).defined()) {
            d = add_defined(std::move(d), neg(mul(c.tangent(1), a)));
          }
          c.set(0, div(std::move(d), add(square(a), square(b))));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b11}, {.inputs = 0b11}}},
              .donates = 0b11}};

}  // namespace ops

Tensor atan2(const Operand& a, const Operand& b) {
  const ops::Operands both("atan2", a, b);
  return graph::apply(ops::kAtan2, {both.a(), both.b()});
}

}  // namespace neap
