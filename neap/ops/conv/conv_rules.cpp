// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv_rules.hpp"

#include "neap/kernels/conv/conv.hpp"
#include "neap/ops/conv/conv2d.hpp"
#include "neap/ops/conv/conv2d_weight.hpp"
#include "neap/ops/conv/conv_transpose2d.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::ops {
namespace {

using base::checked_add;
using base::checked_mul;

template <int kAxes>
void set_options(ConvAttrs& attrs, const ConvOptions<kAxes>& options) {
  for (int axis = 0; axis < kAxes; ++axis) {
    const auto to = static_cast<std::size_t>(axis + 2 - kAxes);
    attrs.stride[to] = options.stride[axis];
    attrs.padding[to] = options.padding[axis];
    attrs.dilation[to] = options.dilation[axis];
  }
  attrs.groups = options.groups;
}

void check_options(std::string_view op, const ConvAttrs& attrs) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (attrs.stride[axis] < 1 || attrs.dilation[axis] < 1 ||
        attrs.padding[axis] < 0) {
      raise<ValueError>(
          "{}: stride {}, dilation {}, padding {}; expected at least 1, 1, 0",
          op, attrs.stride[axis], attrs.dilation[axis], attrs.padding[axis]);
    }
  }
  if (attrs.groups < 1) {
    raise<ValueError>("{}: {} groups, expected at least 1", op, attrs.groups);
  }
}

// Extents with their padding end here, so that no product of two places
// overflows; nothing so long is in anybody's memory.
constexpr std::int64_t kMostExtent = std::int64_t{1} << 40;

void check_extent(std::string_view op, const char* what, std::int64_t extent) {
  if (extent > kMostExtent) {
    raise<ValueError>("{}: {} {}, expected at most {}", op, what, extent,
                      kMostExtent);
  }
}

// How far a kernel reaches beyond its first element.
std::int64_t reach_of(const ConvAttrs& attrs, std::size_t axis) {
  return checked_mul(attrs.dilation[axis], attrs.kernel[axis] - 1);
}

template <int kAxes>
ConvCall call_of(std::string_view op, const Operand& image,
                 const Operand& weight, const Operand* bias,
                 const ConvOptions<kAxes>& options) {
  ConvCall call{.op = op,
                .image = tensor_of(op, image),
                .weight = tensor_of(op, weight),
                .bias = bias == nullptr ? Tensor() : tensor_of(op, *bias),
                .attrs = {},
                .axes = kAxes,
                .has_samples = true};
  if (call.weight.rank() != kAxes + 2) {
    raise<ShapeError>("{}: weight {}, expected {} axes", op,
                      format_shape(call.weight.shape()), kAxes + 2);
  }
  call.has_samples = call.image.rank() == kAxes + 2;
  if (!call.has_samples && call.image.rank() != kAxes + 1) {
    raise<ShapeError>("{}: x {}, expected {} axes, or {} for one sample", op,
                      format_shape(call.image.shape()), kAxes + 2, kAxes + 1);
  }
  if (!call.has_samples) {
    call.image = unsqueeze(call.image, 0);
  }
  if (kAxes == 1) {
    call.image = unsqueeze(call.image, 2);
    call.weight = unsqueeze(call.weight, 2);
  }
  set_options(call.attrs, options);
  call.attrs.precision = current_precision();
  check_options(op, call.attrs);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    call.attrs.kernel[axis] = call.weight.shape()[static_cast<int>(axis) + 2];
    if (call.attrs.kernel[axis] == 0) {
      raise<ShapeError>("{}: a kernel without elements, weight {}", op,
                        format_shape(weight.tensor().shape()));
    }
  }
  return call;
}

// With the axes that the user's operands have.
Tensor as_given(const ConvCall& call, Tensor result) {
  if (call.axes == 1) {
    result = squeeze(result, 2);
  }
  return call.has_samples ? result : squeeze(result, 0);
}

}  // namespace

ConvCall conv_call(std::string_view op, const Operand& image,
                   const Operand& weight, const Operand* bias,
                   const ConvOptions<1>& options) {
  return call_of(op, image, weight, bias, options);
}

ConvCall conv_call(std::string_view op, const Operand& image,
                   const Operand& weight, const Operand* bias,
                   const ConvOptions<2>& options) {
  return call_of(op, image, weight, bias, options);
}

Tensor conv_forward(ConvCall call) {
  ConvAttrs& attrs = call.attrs;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t extent = call.image.shape()[static_cast<int>(axis) + 2];
    const std::int64_t padded =
        checked_add(extent, checked_mul(2, attrs.padding[axis]));
    const std::int64_t reach = reach_of(attrs, axis);
    if (padded <= reach) {
      raise<ShapeError>(
          "{}: a kernel that spans {} for an image of {} with its padding",
          call.op, checked_add(reach, 1), padded);
    }
    check_extent(call.op, "an image that with its padding is", padded);
    // Beyond it there is one place, however long the stride.
    attrs.stride[axis] = std::min(attrs.stride[axis], padded);
    attrs.x_extent[axis] = extent;
    attrs.y_extent[axis] = (padded - reach - 1) / attrs.stride[axis] + 1;
  }
  return as_given(call, conv2d_by(call.image, call.weight, call.bias, attrs));
}

Tensor conv_backward(ConvCall call,
                     const std::array<std::int64_t, 2>& output_padding) {
  ConvAttrs& attrs = call.attrs;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t more = output_padding[axis];
    const std::int64_t most =
        std::max(attrs.stride[axis], attrs.dilation[axis]) - 1;
    if (more < 0 || more > most) {
      raise<ValueError>(
          "{}: output_padding {}, expected 0 to {}: below the stride or the "
          "dilation",
          call.op, more, most);
    }
    const std::int64_t extent = call.image.shape()[static_cast<int>(axis) + 2];
    const std::int64_t covered =
        checked_add(checked_mul(extent - 1, attrs.stride[axis]),
                    checked_add(reach_of(attrs, axis), 1 + more));
    check_extent(call.op, "an image that with its padding is", covered);
    if (extent == 1) {
      attrs.stride[axis] = std::min(attrs.stride[axis], covered);
    }
    attrs.y_extent[axis] = extent;
    attrs.x_extent[axis] = covered - checked_mul(2, attrs.padding[axis]);
    if (attrs.x_extent[axis] < 1 || extent < 1) {
      raise<ShapeError>(
          "{}: x {} with padding {} leaves nothing of the {} that it covers",
          call.op, format_shape(call.image.shape()), attrs.padding[axis],
          covered);
    }
  }
  return as_given(
      call, conv_transpose2d_by(call.image, call.weight, call.bias, attrs));
}

void check_conv_bias(std::string_view op, const OpArgs& args,
                     std::int64_t channels) {
  if (args.inputs.size() > 2 && args.inputs[2].shape != Shape{channels}) {
    raise<ShapeError>("{}: bias {} for weight {}, expected [{}]", op,
                      format_shape(args.inputs[2].shape),
                      format_shape(args.inputs[1].shape), channels);
  }
}

Cost conv_cost(const OpArgs& args, std::span<const Spec> outputs,
               const Shape& y, const Shape& w) {
  return moving(args, outputs, 2 * y.element_count() * w[1] * w[2] * w[3]);
}

Tensor conv_bias_cotangent(const Tensor& cotangent) {
  return sum(cotangent, {0, 2, 3});
}

Tensor add_conv_bias_tangent(Tensor d, const JvpContext& c) {
  if (c.inputs() > 2 && c.tangent(2).defined()) {
    const Tensor& bias = c.tangent(2);
    d = add_defined(std::move(d), reshape(bias, {bias.shape()[0], 1, 1}));
  }
  return expand(d, c.output().shape());
}

void set_conv2d_cotangents(VjpContext& c, Tensor dy) {
  const auto attrs = c.attrs<ConvAttrs>();
  if (c.inputs() > 2 && c.needs(2)) {
    c.set(2, conv_bias_cotangent(dy));
  }
  if (c.needs(1)) {
    c.set(1, conv2d_weight(c.input(0), dy, attrs));
  }
  if (c.needs(0)) {
    c.set(0, conv_transpose2d_by(std::move(dy), c.input(1), {}, attrs));
  }
}

Tensor conv2d_tangent(const JvpContext& c) {
  const auto& attrs = c.attrs<ConvAttrs>();
  Tensor d;
  if (c.tangent(0).defined()) {
    d = conv2d_by(c.tangent(0), c.input(1), {}, attrs);
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d),
                    conv2d_by(c.input(0), c.tangent(1), {}, attrs));
  }
  return add_conv_bias_tangent(std::move(d), c);
}

}  // namespace neap::ops
