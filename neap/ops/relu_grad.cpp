// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/relu_grad.hpp"

#include "neap/kernels/relu.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kReluGrad{
    .name = "relu_grad",
    .formula = "dx = y > 0 ? g : 0, for y = relu(x)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_gradient("relu_grad", args, out[0]);
        },
    .kernel = &kernels::relu_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          if (c.needs(0)) {
            c.set(0, relu_grad(c.take_cotangent(), c.input(1)));
          }
        },
    .jvp =
        [](JvpContext& c) {
          if (c.tangent(0).defined()) {
            c.set(0, relu_grad(c.tangent(0), c.input(1)));
          }
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}}}, .donates = 0b11}};

}  // namespace ops

Tensor relu_grad(const Operand& g, const Operand& y) {
  return graph::apply(ops::kReluGrad, {g, y});
}

}  // namespace neap
