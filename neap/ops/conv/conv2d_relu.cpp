// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv2d_relu.hpp"

#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/conv/conv2d_relu.hpp"
#include "neap/kernels/engine/bits.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/conv/conv2d.hpp"
#include "neap/ops/conv/conv_rules.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/where.hpp"

namespace neap::ops {
namespace {

void infer_conv2d_relu(const OpArgs& args, std::span<Spec> out) {
  kConv2d.infer(args, out.first(1));
}

void infer_conv2d_relu_bits(const OpArgs& args, std::span<Spec> out) {
  infer_conv2d_relu(args, out);
  out[1].dtype = u8;
  out[1].shape = {kernels::bit_bytes(out[0].shape.element_count())};
}

RowUse rows_of_conv_with_bits(const OpArgs& args, Specs outputs,
                              const RowAxes& axes) {
  const RowUse use = rows_by_sample<0b1, 0b1>(args, outputs, axes);
  axes.outputs[1] = RowAxes::kApart;
  return use;
}

Cost cost_of(const OpArgs& args, std::span<const Spec> outputs) {
  return conv_cost(args, outputs, outputs[0].shape, args.inputs[1].shape);
}

Tensor gated(const Tensor& y, Tensor d) {
  return where(le(y, 0), 0, std::move(d));
}

// Calls op(x, w[, bias]). RETURNS: y.
Tensor call_of(const Op& op, const Operand& x, const Operand& w,
               const Tensor& bias, const ConvAttrs& attrs) {
  std::array<Tensor, 2> made;
  const auto outputs =
      std::span(made).first(static_cast<std::size_t>(op.outputs));
  if (bias.is_given()) {
    const std::array<Operand, 3> in{x, w, bias};
    graph::dispatch(op, in, attrs, x.site(), outputs);
  } else {
    const std::array<Operand, 2> in{x, w};
    graph::dispatch(op, in, attrs, x.site(), outputs);
  }
  return std::move(made[0]);
}

}  // namespace

// conv2d_relu is to conv2d_relu_bits what relu is to relu_bits: the form for
// calls that nothing records, with rules for tangents and for recorders that
// record it all the same.
const Op kConv2dRelu{
    .name = "conv2d_relu",
    .formula = "y = relu(conv2d(x, w, b)); recorded as conv2d_relu_bits",
    .infer = infer_conv2d_relu,
    .kernel = &kernels::conv2d_relu_kernels,
    .vjp =
        [](VjpContext& c) {
          set_conv2d_cotangents(c, gated(c.output(), c.take_cotangent()));
        },
    .jvp =
        [](JvpContext& c) { c.set(0, gated(c.output(), conv2d_tangent(c))); },
    .facts = {.vjp_reads = {{{.inputs = 0b010, .outputs = 0b1},
                             {.inputs = 0b001, .outputs = 0b1},
                             {.outputs = 0b1}}},
              .rows = rows_by_sample<0b1, 0b1>,
              .cost = cost_of}};

const Op kConv2dReluBits{
    .name = "conv2d_relu_bits",
    .formula = "y = relu(conv2d(x, w, b)), and the bits of y > 0",
    .outputs = 2,
    .infer = infer_conv2d_relu_bits,
    .kernel = &kernels::conv2d_relu_bits_kernels,
    .vjp =
        [](VjpContext& c) {
          set_conv2d_cotangents(
              c, relu_grad(c.take_cotangent(), c.output(1), 0.0));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, relu_grad(conv2d_tangent(c), c.output(1), 0.0));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b010, .outputs = 0b10},
                             {.inputs = 0b001, .outputs = 0b10},
                             {.outputs = 0b10}}},
              .rows = rows_of_conv_with_bits,
              .cost = cost_of}};

Tensor conv2d_relu(const Operand& x, const Operand& w, const Tensor& bias,
                   const ConvAttrs& attrs) {
  return call_of(kConv2dRelu, x, w, bias, attrs);
}

Tensor conv2d_relu_bits(const Operand& x, const Operand& w, const Tensor& bias,
                        const ConvAttrs& attrs) {
  return call_of(kConv2dReluBits, x, w, bias, attrs);
}

}  // namespace neap::ops
