// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log_sigmoid_grad.hpp"

#include "neap/kernels/log_sigmoid.hpp"
#include "neap/ops/exp.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/slope.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

namespace {

Tensor log_sigmoid_slope(const Operand& g, const Operand& y, const NoAttrs&) {
  return log_sigmoid_grad(g, y);
}

Tensor log_sigmoid_bend(const Tensor& y, const NoAttrs&) {
  return neg(exp(y));
}

}  // namespace

const Op kLogSigmoidGrad{
    .name = "log_sigmoid_grad",
    .formula = "dx = g (1 - e^y), for y = log_sigmoid(x)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_gradient("log_sigmoid_grad", args, out[0]);
        },
    .kernel = &kernels::log_sigmoid_grad_kernels,
    .vjp = vjp_of_slope<NoAttrs, log_sigmoid_slope, log_sigmoid_bend>,
    .jvp = jvp_of_slope<NoAttrs, log_sigmoid_slope, log_sigmoid_bend>,
    .facts = kSlopeFacts};

Tensor log_sigmoid_grad(const Operand& g, const Operand& y) {
  return graph::apply(kLogSigmoidGrad, {g, y});
}

}  // namespace neap::ops
