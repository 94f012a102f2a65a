// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/tanh.hpp"

#include "neap/kernels/tanh.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/tanh_grad.hpp"

namespace neap {
namespace ops {

const Op kTanh{
    .name = "tanh",
    .formula = "y = tanh x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("tanh", args, out[0]); },
    .kernel = &kernels::tanh_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, tanh_grad(c.take_cotangent(), c.output()));
        },
    .jvp = [](JvpContext& c) { c.set(0, tanh_grad(c.tangent(), c.output())); },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor tanh(const Operand& x) {
  return graph::apply(ops::kTanh, {x});
}

}  // namespace neap
