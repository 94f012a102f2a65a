// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the sources of conv1d, conv2d, conv2d_weight and their transposes.
// The three primitives are the derivatives of one trilinear form
// (kernels/conv/conv.hpp), so that the rules of each are written in the other
// two. For sources of ops only.
#pragma once

#include "neap/kernels/conv/conv.hpp"
#include "neap/ops/conv/conv_options.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

using kernels::ConvAttrs;

/// The operands and options of a call, brought to two spatial axes.
struct ConvCall {
  std::string_view op;
  Tensor image;   // (n, channels, h, w)
  Tensor weight;  // (a, b, kh, kw)
  Tensor bias;    // undefined: none
  ConvAttrs attrs;
  int axes;  // spatial ones that the user gave
  bool has_samples;
};

/// For `axes` 1 or 2, with the kernel's extents, and all numbers checked.
/// THROWS: ShapeError for other ranks; ValueError unless strides, dilations and
/// groups are positive and paddings not negative; DTypeError for numbers.
ConvCall conv_call(std::string_view op, const Operand& image,
                   const Operand& weight, const Operand* bias,
                   const ConvOptions<1>& options);
ConvCall conv_call(std::string_view op, const Operand& image,
                   const Operand& weight, const Operand* bias,
                   const ConvOptions<2>& options);

/// y of a call whose image is x, with the axes that the user gave.
/// THROWS: ShapeError.
Tensor conv_forward(ConvCall call);
/// x of a call whose image is y, with that many more elements at the end.
/// THROWS: ShapeError, ValueError.
Tensor conv_backward(ConvCall call,
                     const std::array<std::int64_t, 2>& output_padding);

/// THROWS: ShapeError unless the bias, if there is one, is (channels).
void check_conv_bias(std::string_view op, const OpArgs& args,
                     std::int64_t channels);
/// The cost of a call for these y and w.
Cost conv_cost(const OpArgs& args, std::span<const Spec> outputs,
               const Shape& y, const Shape& w);
/// The sum over samples and places.
Tensor conv_bias_cotangent(const Tensor& cotangent);
/// `d` and the bias's tangent, whichever is defined, in the output's shape.
Tensor add_conv_bias_tangent(Tensor d, const JvpContext& c);
/// Sets the cotangents of conv2d(x, w[, b]) from `dy`, for inputs that need
/// one.
void set_conv2d_cotangents(VjpContext& c, Tensor dy);
/// The tangent of conv2d(x, w[, b]), from the tangents that there are.
Tensor conv2d_tangent(const JvpContext& c);

}  // namespace neap::ops
