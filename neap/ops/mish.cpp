// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/mish.hpp"

#include "neap/kernels/mish.hpp"
#include "neap/ops/mish_grad.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

namespace {

Tensor mish_slope(const Operand& g, const Operand& x, const NoAttrs&) {
  return mish_grad(g, x);
}

}  // namespace

const Op kMish{
    .name = "mish",
    .formula = "y = x tanh(ln(1 + e^x)) (Misra, 2019)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("mish", args, out[0]); },
    .kernel = &kernels::mish_kernels,
    .vjp = vjp_from_input<NoAttrs, mish_slope>,
    .jvp = jvp_from_input<NoAttrs, mish_slope>,
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor mish(const Operand& x) {
  return graph::apply(ops::kMish, {x});
}

}  // namespace neap
