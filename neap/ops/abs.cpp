// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/abs.hpp"

#include "neap/kernels/abs.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/sign.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kAbs{
    .name = "abs",
    .formula = "y = |x|, dy/dx = 0 at 0",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_signed("abs", args, out[0]); },
    .kernel = &kernels::abs_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(), sign(c.input(0))));
        },
    .jvp = [](JvpContext& c) { c.set(0, mul(c.tangent(), sign(c.input()))); },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor abs(const Operand& x) {
  return graph::apply(ops::kAbs, {x});
}

}  // namespace neap
