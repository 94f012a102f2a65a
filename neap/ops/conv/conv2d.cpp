// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv2d.hpp"

#include "neap/kernels/conv/conv.hpp"
#include "neap/ops/conv/conv_rules.hpp"

namespace neap {
namespace ops {
namespace {

void infer_conv2d(const OpArgs& args, std::span<Spec> out) {
  infer_floating(args, out);
  const auto& attrs = args.attrs.as<ConvAttrs>();
  const Shape& x = args.inputs[0].shape;
  const Shape& w = args.inputs[1].shape;
  if (x[1] != base::checked_mul(w[1], attrs.groups) ||
      w[0] % attrs.groups != 0) {
    raise<ShapeError>(
        "conv2d: x {} and weight {} in groups of {}, expected (n, c, ...) and "
        "(o, c / groups, ...)",
        format_shape(x), format_shape(w), attrs.groups);
  }
  check_conv_bias("conv2d", args, w[0]);
  out[0].shape = {x[0], w[0], attrs.y_extent[0], attrs.y_extent[1]};
}

void vjp_conv2d(VjpContext& c) {
  set_conv2d_cotangents(c, c.take_cotangent());
}

void jvp_conv2d(JvpContext& c) {
  c.set(0, conv2d_tangent(c));
}

}  // namespace

const Op kConv2d{
    .name = "conv2d",
    .formula =
        "y[n, o, i, j] = b[o] + sum over k, p, q of x[n, k, i s + p d - "
        "padding, ...] w[o, k, p, q]; dx = conv_transpose2d(dy, w), dw = "
        "conv2d_weight(x, dy), db = sum of dy over n, i, j",
    .infer = infer_conv2d,
    .kernel = &kernels::conv2d_kernels,
    .vjp = vjp_conv2d,
    .jvp = jvp_conv2d,
    .facts = {.vjp_reads = {{{.inputs = 0b010}, {.inputs = 0b001}}},
              .rows = rows_by_sample<0b1, 0b1>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return conv_cost(args, outputs, outputs[0].shape,
                                 args.inputs[1].shape);
              }}};

Tensor conv2d_by(const Operand& x, const Operand& w, const Tensor& bias,
                 const ConvAttrs& attrs) {
  return bias.is_given() ? graph::apply(kConv2d, {x, w, bias}, attrs)
                         : graph::apply(kConv2d, {x, w}, attrs);
}

}  // namespace ops

Tensor conv2d(const Operand& x, const Operand& weight,
              const ConvOptions<2>& options) {
  const ops::AtSite here(x);
  return ops::conv_forward(
      ops::conv_call("conv2d", x, weight, nullptr, options));
}

Tensor conv2d(const Operand& x, const Operand& weight, const Operand& bias,
              const ConvOptions<2>& options) {
  const ops::AtSite here(x);
  return ops::conv_forward(ops::conv_call("conv2d", x, weight, &bias, options));
}

}  // namespace neap
