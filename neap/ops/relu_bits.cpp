// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/relu_bits.hpp"

#include "neap/kernels/activation_attrs.hpp"
#include "neap/kernels/bits.hpp"
#include "neap/kernels/relu_bits.hpp"
#include "neap/ops/relu_grad.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

using kernels::SlopeAttrs;

// The second output is a residual alone, never given to the user: one bit an
// element, set where x is positive.
const Op kReluBits{
    .name = "relu_bits",
    .formula = "y = x > 0 ? x : slope x, and the bits of x > 0",
    .outputs = 2,
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating("relu_bits", args, out[0]);
          out[1].dtype = u8;
          out[1].shape = {kernels::bit_bytes(out[0].shape.element_count())};
        },
    .kernel = &kernels::relu_bits_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, relu_grad(c.take_cotangent(), c.output(1),
                             c.attrs<SlopeAttrs>().slope));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, relu_grad(c.tangent(), c.output(1),
                             c.attrs<SlopeAttrs>().slope));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b10}}}, .donates = 0b1}};

Tensor relu_bits(const Operand& x, double slope) {
  std::array<Tensor, 2> outputs;
  graph::dispatch(kReluBits, std::span(&x, 1), SlopeAttrs{slope}, x.site(),
                  outputs);
  return std::move(outputs[0]);
}

bool will_be_recorded(const Tensor& x) {
  return memory::context().grad_enabled && x.requires_grad();
}

}  // namespace neap::ops
