// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sigmoid.hpp"

#include "neap/kernels/sigmoid.hpp"
#include "neap/ops/sigmoid_grad.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kSigmoid{
    .name = "sigmoid",
    .formula = "y = 1 / (1 + e^-x)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating("sigmoid", args, out[0]);
        },
    .kernel = &kernels::sigmoid_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, sigmoid_grad(c.take_cotangent(), c.output()));
        },
    .jvp =
        [](JvpContext& c) { c.set(0, sigmoid_grad(c.tangent(), c.output())); },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor sigmoid(const Operand& x) {
  return graph::apply(ops::kSigmoid, {x});
}

}  // namespace neap
