// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/maximum.hpp"

#include "neap/kernels/maximum.hpp"
#include "neap/ops/compare.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/where.hpp"

namespace neap {
namespace ops {
namespace {

// d unless b is chosen over a, half of it where they are equal. Where one of
// them is NaN neither is chosen, and both have d.
Tensor share_of(const Op& op, const Tensor& a, const Tensor& b,
                const Tensor& d) {
  const Tensor loses = &op == &kMaximum ? lt(a, b) : gt(a, b);
  return where(loses, 0, where(eq(a, b), mul(d, 0.5), d));
}

template <const Op& kOp>
void extreme_vjp(VjpContext& c) {
  for (int i = 0; i < 2; ++i) {
    if (c.needs(i)) {
      c.set(i, sum_to(share_of(kOp, c.input(i), c.input(1 - i), c.cotangent()),
                      c.input_shape(i)));
    }
  }
}

template <const Op& kOp>
void extreme_jvp(JvpContext& c) {
  Tensor d;
  for (int i = 0; i < 2; ++i) {
    if (c.tangent(i).defined()) {
      d = add_defined(std::move(d),
                      share_of(kOp, c.input(i), c.input(1 - i), c.tangent(i)));
    }
  }
  c.set(0, std::move(d));
}

constexpr graph::Facts kFacts = {
    .vjp_reads = {{{.inputs = 0b11}, {.inputs = 0b11}}}, .donates = 0b11};

}  // namespace

const Op kMaximum{.name = "maximum",
                  .formula = "y = max(a, b); equal operands share dy equally",
                  .infer =
                      [](const OpArgs& args, std::span<Spec> out) {
                        infer_arithmetic("maximum", args, out[0]);
                      },
                  .kernel = &kernels::maximum_kernels,
                  .vjp = extreme_vjp<kMaximum>,
                  .jvp = extreme_jvp<kMaximum>,
                  .facts = kFacts};

const Op kMinimum{.name = "minimum",
                  .formula = "y = min(a, b); equal operands share dy equally",
                  .infer =
                      [](const OpArgs& args, std::span<Spec> out) {
                        infer_arithmetic("minimum", args, out[0]);
                      },
                  .kernel = &kernels::minimum_kernels,
                  .vjp = extreme_vjp<kMinimum>,
                  .jvp = extreme_jvp<kMinimum>,
                  .facts = kFacts};

}  // namespace ops

Tensor maximum(const Operand& a, const Operand& b) {
  const ops::Operands both("maximum", a, b);
  return graph::apply(ops::kMaximum, {both.a(), both.b()});
}

Tensor minimum(const Operand& a, const Operand& b) {
  const ops::Operands both("minimum", a, b);
  return graph::apply(ops::kMinimum, {both.a(), both.b()});
}

}  // namespace neap
