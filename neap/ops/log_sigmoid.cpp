// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log_sigmoid.hpp"

#include "neap/kernels/log_sigmoid.hpp"
#include "neap/ops/log_sigmoid_grad.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

namespace {

Tensor log_sigmoid_slope(const Operand& g, const Operand& y, const NoAttrs&) {
  return log_sigmoid_grad(g, y);
}

}  // namespace

const Op kLogSigmoid{
    .name = "log_sigmoid",
    .formula = "y = -ln(1 + e^-x); dx = dy (1 - e^y)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating("log_sigmoid", args, out[0]);
        },
    .kernel = &kernels::log_sigmoid_kernels,
    .vjp = vjp_from_output<NoAttrs, log_sigmoid_slope>,
    .jvp = jvp_from_output<NoAttrs, log_sigmoid_slope>,
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor log_sigmoid(const Operand& x) {
  return graph::apply(ops::kLogSigmoid, {x});
}

}  // namespace neap
