// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv_transpose2d.hpp"

#include "neap/kernels/conv/conv.hpp"
#include "neap/ops/conv/conv2d.hpp"
#include "neap/ops/conv/conv2d_weight.hpp"
#include "neap/ops/conv/conv_rules.hpp"

namespace neap {
namespace ops {
namespace {

void infer_conv_transpose2d(const OpArgs& args, std::span<Spec> out) {
  infer_floating(args, out);
  const auto& attrs = args.attrs.as<ConvAttrs>();
  const Shape& y = args.inputs[0].shape;
  const Shape& w = args.inputs[1].shape;
  if (y[1] != w[0] || w[0] % attrs.groups != 0) {
    raise<ShapeError>(
        "conv_transpose2d: x {} and weight {} in groups of {}, expected (n, c, "
        "...) and (c, o / groups, ...)",
        format_shape(y), format_shape(w), attrs.groups);
  }
  const std::int64_t channels = base::checked_mul(w[1], attrs.groups);
  check_conv_bias("conv_transpose2d", args, channels);
  out[0].shape = {y[0], channels, attrs.x_extent[0], attrs.x_extent[1]};
}

void vjp_conv_transpose2d(VjpContext& c) {
  const auto attrs = c.attrs<ConvAttrs>();
  if (c.inputs() > 2 && c.needs(2)) {
    c.set(2, conv_bias_cotangent(c.cotangent()));
  }
  if (c.needs(1)) {
    c.set(1, conv2d_weight(c.cotangent(), c.input(0), attrs));
  }
  if (c.needs(0)) {
    c.set(0, conv2d_by(c.take_cotangent(), c.input(1), {}, attrs));
  }
}

void jvp_conv_transpose2d(JvpContext& c) {
  const auto& attrs = c.attrs<ConvAttrs>();
  Tensor d;
  if (c.tangent(0).defined()) {
    d = conv_transpose2d_by(c.tangent(0), c.input(1), {}, attrs);
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d),
                    conv_transpose2d_by(c.input(0), c.tangent(1), {}, attrs));
  }
  c.set(0, add_conv_bias_tangent(std::move(d), c));
}

}  // namespace

const Op kConvTranspose2d{
    .name = "conv_transpose2d",
    .formula =
        "the gradient of conv2d by its input, as a map of its own; dx = "
        "conv2d(dy, w), dw = conv2d_weight(dy, x), db = sum of dy over n, i, j",
    .infer = infer_conv_transpose2d,
    .kernel = &kernels::conv_transpose2d_kernels,
    .vjp = vjp_conv_transpose2d,
    .jvp = jvp_conv_transpose2d,
    .facts = {.vjp_reads = {{{.inputs = 0b010}, {.inputs = 0b001}}},
              .rows = rows_by_sample<0b1, 0b1>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return conv_cost(args, outputs, args.inputs[0].shape,
                                 args.inputs[1].shape);
              }}};

Tensor conv_transpose2d_by(const Operand& y, const Operand& w,
                           const Tensor& bias, const ConvAttrs& attrs) {
  return bias.is_given() ? graph::apply(kConvTranspose2d, {y, w, bias}, attrs)
                         : graph::apply(kConvTranspose2d, {y, w}, attrs);
}

namespace {

Tensor transposed(const Operand& x, const Operand& weight, const Operand* bias,
                  const ConvTransposeOptions<2>& options) {
  const AtSite here(x);
  return conv_backward(
      conv_call("conv_transpose2d", x, weight, bias,
                ConvOptions<2>{options.stride, options.padding,
                               options.dilation, options.groups}),
      {options.output_padding[0], options.output_padding[1]});
}

}  // namespace
}  // namespace ops

Tensor conv_transpose2d(const Operand& x, const Operand& weight,
                        const ConvTransposeOptions<2>& options) {
  return ops::transposed(x, weight, nullptr, options);
}

Tensor conv_transpose2d(const Operand& x, const Operand& weight,
                        const Operand& bias,
                        const ConvTransposeOptions<2>& options) {
  return ops::transposed(x, weight, &bias, options);
}

}  // namespace neap
