// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/relu_grad.hpp"

#include "neap/kernels/activation_attrs.hpp"
#include "neap/kernels/bits.hpp"
#include "neap/kernels/relu_bits.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

using kernels::SlopeAttrs;

namespace {

void infer_relu_grad(const OpArgs& args, Spec& out) {
  const Spec& g = args.inputs[0];
  const Spec& bits = args.inputs[1];
  check_computes("relu_grad", g.dtype);
  check_dtype("relu_grad", bits.dtype, u8);
  const std::int64_t bytes = kernels::bit_bytes(g.shape.element_count());
  if (bits.shape != Shape{bytes}) {
    raise<ShapeError>("relu_grad: bits {} for {}, expected [{}]",
                      format_shape(bits.shape), format_shape(g.shape), bytes);
  }
  out.dtype = g.dtype;
  out.shape = g.shape;
}

}  // namespace

// Linear in g, and its own transpose.
const Op kReluGrad{
    .name = "relu_grad",
    .formula = "dx = bit ? g : slope g, for the bits of x > 0",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_relu_grad(args, out[0]); },
    .kernel = &kernels::relu_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, relu_grad(c.take_cotangent(), c.input(1),
                             c.attrs<SlopeAttrs>().slope));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, relu_grad(c.tangent(0), c.input(1),
                             c.attrs<SlopeAttrs>().slope));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {}}}, .donates = 0b1}};

Tensor relu_grad(const Operand& g, const Operand& bits, double slope) {
  return graph::apply(kReluGrad, {g, bits}, SlopeAttrs{slope});
}

}  // namespace neap::ops
