// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/gelu.hpp"

#include "neap/kernels/gelu.hpp"
#include "neap/ops/gelu_grad.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

namespace {

Tensor gelu_slope(const Operand& g, const Operand& x, const NoAttrs&) {
  return gelu_grad(g, x);
}

Tensor gelu_tanh_slope(const Operand& g, const Operand& x, const NoAttrs&) {
  return gelu_tanh_grad(g, x);
}

}  // namespace

const Op kGelu{
    .name = "gelu",
    .formula = "y = x (1 + erf(x / sqrt 2)) / 2",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("gelu", args, out[0]); },
    .kernel = &kernels::gelu_kernels,
    .vjp = vjp_from_input<NoAttrs, gelu_slope>,
    .jvp = jvp_from_input<NoAttrs, gelu_slope>,
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

const Op kGeluTanh{
    .name = "gelu_tanh",
    .formula = "y = x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating("gelu_tanh", args, out[0]);
        },
    .kernel = &kernels::gelu_tanh_kernels,
    .vjp = vjp_from_input<NoAttrs, gelu_tanh_slope>,
    .jvp = jvp_from_input<NoAttrs, gelu_tanh_slope>,
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor gelu(const Operand& x, GeluForm form) {
  return graph::apply(form == GeluForm::kExact ? ops::kGelu : ops::kGeluTanh,
                      {x});
}

}  // namespace neap
