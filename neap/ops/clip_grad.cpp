// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/clip_grad.hpp"

#include "neap/kernels/clip.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kClipGrad{
    .name = "clip_grad",
    .formula = "dx = low < x < high ? g : 0",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_gradient("clip_grad", args, out[0]);
        },
    .kernel = &kernels::clip_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          if (c.needs(0)) {
            c.set(0, clip_grad(c.take_cotangent(), c.input(1),
                               c.attrs<kernels::ClipAttrs>()));
          }
        },
    .jvp =
        [](JvpContext& c) {
          if (c.tangent(0).defined()) {
            c.set(0, clip_grad(c.tangent(0), c.input(1),
                               c.attrs<kernels::ClipAttrs>()));
          }
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}}}, .donates = 0b11}};

}  // namespace ops

Tensor clip_grad(const Operand& g, const Operand& x,
                 const kernels::ClipAttrs& range) {
  return graph::apply(ops::kClipGrad, {g, x}, range);
}

}  // namespace neap
