// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/silu.hpp"

#include "neap/kernels/silu.hpp"
#include "neap/ops/silu_grad.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

namespace {

Tensor silu_slope(const Operand& g, const Operand& x, const NoAttrs&) {
  return silu_grad(g, x);
}

}  // namespace

const Op kSilu{
    .name = "silu",
    .formula = "y = x sigmoid(x)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("silu", args, out[0]); },
    .kernel = &kernels::silu_kernels,
    .vjp = vjp_from_input<NoAttrs, silu_slope>,
    .jvp = jvp_from_input<NoAttrs, silu_slope>,
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor silu(const Operand& x) {
  return graph::apply(ops::kSilu, {x});
}

}  // namespace neap
