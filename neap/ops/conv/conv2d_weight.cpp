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
        "{}: x {} and y {} in groups of {}, expected (n, c, {}, {}) and (n, o, "
        "{}, {})",
        args.name, format_shape(x), format_shape(y), attrs.groups,
        attrs.x_extent[0], attrs.x_extent[1], attrs.y_extent[0],
        attrs.y_extent[1]);
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

namespace {

void infer_conv2d_weight_add(const OpArgs& args, std::span<Spec> out) {
  infer_floating(args, out);
  Spec term;
  infer_conv2d_weight({args.name, args.inputs.subspan(1), args.attrs},
                      {&term, 1});
  if (term.shape != out[0].shape) {
    raise<ShapeError>(
        "conv2d_weight_add: {} and a gradient {}, expected one "
        "shape",
        format_shape(out[0].shape), format_shape(term.shape));
  }
}

RowUse rows_of_added_weight(const OpArgs& args, Specs outputs,
                            const RowAxes& axes) {
  if (axes.inputs[0] != RowAxes::kWhole) {
    return RowUse::kUnknown;
  }
  const RowUse use =
      rows_by_sample<0b11, 0>({args.name, args.inputs.subspan(1), args.attrs},
                              outputs, {axes.inputs.subspan(1), axes.outputs});
  return use == RowUse::kEach ? RowUse::kOnto : use;
}

}  // namespace

const Op kConv2dWeightAdd{
    .name = "conv2d_weight_add",
    .formula =
        "w = dw + conv2d_weight(x, y), as one sum that begins with dw; dx = "
        "conv_transpose2d(y, dw), dy = conv2d(x, dw)",
    .infer = infer_conv2d_weight_add,
    .kernel = &kernels::conv2d_weight_add_kernels,
    .vjp =
        [](VjpContext& c) {
          const auto attrs = c.attrs<ConvAttrs>();
          if (c.needs(1)) {
            c.set(1, conv_transpose2d_by(c.input(2), c.cotangent(), {}, attrs));
          }
          if (c.needs(2)) {
            c.set(2, conv2d_by(c.input(1), c.cotangent(), {}, attrs));
          }
          if (c.needs(0)) {
            c.set(0, c.take_cotangent());
          }
        },
    .jvp =
        [](JvpContext& c) {
          const auto& attrs = c.attrs<ConvAttrs>();
          Tensor d = c.tangent(0);
          const auto gain = [&](const Tensor& x, const Tensor& y) {
            d = d.defined() ? conv2d_weight_add(std::move(d), x, y, attrs)
                            : conv2d_weight(x, y, attrs);
          };
          if (c.tangent(1).defined()) {
            gain(c.tangent(1), c.input(2));
          }
          if (c.tangent(2).defined()) {
            gain(c.input(1), c.tangent(2));
          }
          c.set(0, std::move(d));
        },
    .facts = {.vjp_reads = {{{}, {.inputs = 0b100}, {.inputs = 0b010}}},
              .donates = 0b001,
              .rows = rows_of_added_weight,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return conv_cost(args, outputs, args.inputs[2].shape,
                                 outputs[0].shape);
              }}};

Tensor conv2d_weight_add(const Operand& dw, const Operand& x, const Operand& y,
                         const ConvAttrs& attrs) {
  return graph::apply(kConv2dWeightAdd, {dw, x, y}, attrs);
}

}  // namespace neap::ops
