// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elu.hpp"

#include "neap/kernels/elu.hpp"
#include "neap/ops/elu_grad.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

using kernels::EluAttrs;

namespace {

Tensor elu_slope(const Operand& g, const Operand& y, const EluAttrs& attrs) {
  return elu_grad(g, y, attrs);
}

}  // namespace

const Op kElu{
    .name = "elu",
    .formula = "y = x > 0 ? x : alpha (e^x - 1); dy/dx = alpha at 0",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("elu", args, out[0]); },
    .kernel = &kernels::elu_kernels,
    .vjp = vjp_from_output<EluAttrs, elu_slope>,
    .jvp = jvp_from_output<EluAttrs, elu_slope>,
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor elu(const Operand& x, double alpha) {
  if (!(alpha >= 0.0)) {
    base::raise<ValueError>("elu: alpha is {}, expected alpha >= 0", alpha);
  }
  return graph::apply(ops::kElu, {x}, ops::EluAttrs{alpha});
}

}  // namespace neap
