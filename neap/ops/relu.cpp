// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/relu.hpp"

#include "neap/kernels/relu.hpp"
#include "neap/ops/relu_grad.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kRelu{
    .name = "relu",
    .formula = "y = max(x, 0), dy/dx = 0 at 0",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("relu", args, out[0]); },
    .kernel = &kernels::relu_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, relu_grad(c.take_cotangent(), c.output()));
        },
    .jvp = [](JvpContext& c) { c.set(0, relu_grad(c.tangent(), c.output())); },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor relu(const Operand& x) {
  return graph::apply(ops::kRelu, {x});
}

}  // namespace neap
