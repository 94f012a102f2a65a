// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv2d_weight.hpp"

#include "neap/kernels/conv/conv.hpp"
#include "neap/ops/conv/conv2d.hpp"
#include "neap/ops/conv/conv_rules.hpp"
#include "neap/ops/conv/conv_transpose2d.hpp"

namespace neap::ops {
namespace {

void infer_conv2d_weight(const OpArgs& args, std::span<Spec> out) {
  infer_floating(args, out);
  const auto& attrs = args.attrs.as<ConvAttrs>();
  const Shape& x = args.inputs[0].shape;
  const Shape& y = args.inputs[1].shape;
  const bool fits = x.rank() == 4 && y.rank() == 4 && x[0] == y[0] &&
                    x[1] % attrs.groups == 0 && y[1] % attrs.groups == 0 &&
                    x[2] == attrs.x_extent[0] && x[3] == attrs.x_extent[1] &&
                    y[2] == attrs.y_extent[0] && y[3] == attrs.y_extent[1];
  if (!fits) {
    raise<ShapeError>(
        "conv2d_weight: x {} and y {} in groups of {}, expected (n, c, {}, {}) "
        "and (n, o, {}, {})",
        format_shape(x), format_shape(y), attrs.groups, attrs.x_extent[0],
        attrs.x_extent[1], attrs.y_extent[0], attrs.y_extent[1]);
  }
  out[0].shape = {y[1], x[1] / attrs.groups, attrs.kernel[0], attrs.kernel[1]};
}

}  // namespace

const Op kConv2dWeight{
    .name = "conv2d_weight",
    .formula =
        "dw = the gradient of y = conv2d(x, w) by w for dy = y, as a "
        "map of its own; dx = conv_transpose2d(y, dw), dy = conv2d(x, "
        "dw)",
    .infer = infer_conv2d_weight,
    .kernel = &kernels::conv2d_weight_kernels,
    .vjp =
        [](VjpContext& c) {
          const auto attrs = c.attrs<ConvAttrs>();
          if (c.needs(0)) {
            c.set(0, conv_transpose2d_by(c.input(1), c.cotangent(), {}, attrs));
          }
          if (c.needs(1)) {
            c.set(1, conv2d_by(c.input(0), c.take_cotangent(), {}, attrs));
          }
        },
    .jvp =
        [](JvpContext& c) {
          const auto& attrs = c.attrs<ConvAttrs>();
          Tensor d;
          if (c.tangent(0).defined()) {
            d = conv2d_weight(c.tangent(0), c.input(1), attrs);
          }
          if (c.tangent(1).defined()) {
            d = add_defined(std::move(d),
                            conv2d_weight(c.input(0), c.tangent(1), attrs));
          }
          c.set(0, std::move(d));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {.inputs = 0b01}}},
              .rows = rows_by_sample<0b11, 0>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return conv_cost(args, outputs, args.inputs[1].shape,
                                 outputs[0].shape);
              }}};

Tensor conv2d_weight(const Operand& x, const Operand& y,
                     const ConvAttrs& attrs) {
  return graph::apply(kConv2dWeight, {x, y}, attrs);
}

}  // namespace neap::ops
