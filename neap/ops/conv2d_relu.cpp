// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv2d_relu.hpp"

#include "neap/kernels/bits.hpp"
#include "neap/kernels/conv2d_relu.hpp"
#include "neap/ops/conv2d.hpp"
#include "neap/ops/conv_rules.hpp"
#include "neap/ops/relu_grad.hpp"

namespace neap::ops {
namespace {

void infer_conv2d_relu(const OpArgs& args, std::span<Spec> out) {
  kConv2d.infer(args, out.first(1));
  out[1].dtype = u8;
  out[1].shape = {kernels::bit_bytes(out[0].shape.element_count())};
}

void vjp_conv2d_relu(VjpContext& c) {
  set_conv2d_cotangents(c, relu_grad(c.take_cotangent(), c.output(1), 0.0));
}

void jvp_conv2d_relu(JvpContext& c) {
  c.set(0, relu_grad(conv2d_tangent(c), c.output(1), 0.0));
}

}  // namespace

const Op kConv2dRelu{
    .name = "conv2d_relu",
    .formula = "y = relu(conv2d(x, w, b)), and the bits of y > 0",
    .outputs = 2,
    .infer = infer_conv2d_relu,
    .kernel = &kernels::conv2d_relu_kernels,
    .vjp = vjp_conv2d_relu,
    .jvp = jvp_conv2d_relu,
    .facts = {.vjp_reads = {{{.inputs = 0b010, .outputs = 0b10},
                             {.inputs = 0b001, .outputs = 0b10},
                             {.outputs = 0b10}}},
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return conv_cost(args, outputs, outputs[0].shape,
                                 args.inputs[1].shape);
              }}};

Tensor conv2d_relu(const Operand& x, const Operand& w, const Tensor& bias,
                   const ConvAttrs& attrs) {
  std::array<Tensor, 2> outputs;
  if (bias.defined()) {
    const std::array<Operand, 3> in{x, w, bias};
    graph::dispatch(kConv2dRelu, in, attrs, x.site(), outputs);
  } else {
    const std::array<Operand, 2> in{x, w};
    graph::dispatch(kConv2dRelu, in, attrs, x.site(), outputs);
  }
  return std::move(outputs[0]);
}

}  // namespace neap::ops
