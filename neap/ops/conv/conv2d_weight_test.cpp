// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv2d_weight.hpp"

#include "neap/kernels/conv/conv.hpp"
#include "neap/ops/conv/conv_test.hpp"

namespace neap::testing {
namespace {

using kernels::ConvAttrs;

Reference reference_of(const ConvAttrs& attrs) {
  return [attrs](std::span<const HostArray> inputs) {
    Planes x = planes_of(inputs[0], 2);
    Planes y = planes_of(inputs[1], 2);
    Planes w = zeros_of(y.extents[1], x.extents[1] / attrs.groups,
                        attrs.kernel[0], attrs.kernel[1]);
    const ConvForm form{{{attrs.stride[0], attrs.stride[1]},
                         {attrs.padding[0], attrs.padding[1]},
                         {attrs.dilation[0], attrs.dilation[1]},
                         attrs.groups}};
    form.each(
        x, w, y, [&](const auto& at_x, const auto& at_w, const auto& at_y) {
          element_of(w, at_w) += element_of(x, at_x) * element_of(y, at_y);
        });
    return w.values;
  };
}

OpRow row_of(std::string name, const Shape& x, const Shape& y,
             const ConvAttrs& attrs) {
  return {
      .name = std::move(name),
      .fn = [attrs](
                Inputs in) { return ops::conv2d_weight(in[0], in[1], attrs); },
      .inputs = {uniform(x, -1, 1), uniform(y, -1, 1)},
      .reference = reference_of(attrs)};
}

OpTable conv2d_weight_table() {
  OpTable table{.name = "conv2d_weight", .op = &ops::kConv2dWeight};
  table.rows = {row_of("padded", {2, 2, 4, 5}, {2, 3, 4, 5},
                       {.padding = {1, 1},
                        .x_extent = {4, 5},
                        .kernel = {3, 3},
                        .y_extent = {4, 5}}),
                row_of("strided, dilated", {2, 2, 6, 7}, {2, 2, 2, 3},
                       {.stride = {2, 3},
                        .padding = {0, 1},
                        .dilation = {2, 1},
                        .x_extent = {6, 7},
                        .kernel = {2, 3},
                        .y_extent = {2, 3}}),
                row_of("groups", {2, 4, 3, 3}, {2, 6, 2, 2},
                       {.x_extent = {3, 3},
                        .kernel = {2, 2},
                        .y_extent = {2, 2},
                        .groups = 2})};
  table.rows[0].shape = Shape{3, 2, 3, 3};
  table.rows[0].zero_size = {{{0, 2, 4, 5}, {0, 3, 4, 5}}};
  table.errors = {
      {.name = "samples",
       .fn =
           [](Inputs in) {
             return ops::conv2d_weight(
                 in[0], in[1],
                 {.x_extent = {3, 3}, .kernel = {2, 2}, .y_extent = {2, 2}});
           },
       .inputs = {uniform({2, 4, 3, 3}, 0, 1), uniform({1, 4, 2, 2}, 0, 1)},
       .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(conv2d_weight_table);

// A row of conv2d_weight with a sum in front of it.
OpRow added_row(std::string name, const Shape& sum, const Shape& x,
                const Shape& y, const ConvAttrs& attrs) {
  return {
      .name = std::move(name),
      .fn =
          [attrs](Inputs in) {
            return ops::conv2d_weight_add(in[0], in[1], in[2], attrs);
          },
      .inputs = {uniform(sum, -1, 1), uniform(x, -1, 1), uniform(y, -1, 1)},
      .reference =
          [gradient = reference_of(attrs)](std::span<const HostArray> inputs) {
            std::vector<double> w = gradient(inputs.subspan(1));
            for (std::size_t i = 0; i < w.size(); ++i) {
              w[i] += inputs[0].values[i];
            }
            return w;
          }};
}

OpTable conv2d_weight_add_table() {
  OpTable table{.name = "conv2d_weight_add", .op = &ops::kConv2dWeightAdd};
  const ConvAttrs padded{.padding = {1, 1},
                         .x_extent = {4, 5},
                         .kernel = {3, 3},
                         .y_extent = {4, 5}};
  table.rows = {
      added_row("padded", {3, 2, 3, 3}, {2, 2, 4, 5}, {2, 3, 4, 5}, padded),
      added_row("strided, dilated", {2, 2, 2, 3}, {2, 2, 6, 7}, {2, 2, 2, 3},
                {.stride = {2, 3},
                 .padding = {0, 1},
                 .dilation = {2, 1},
                 .x_extent = {6, 7},
                 .kernel = {2, 3},
                 .y_extent = {2, 3}}),
      added_row("groups", {6, 2, 2, 2}, {2, 4, 3, 3}, {2, 6, 2, 2},
                {.x_extent = {3, 3},
                 .kernel = {2, 2},
                 .y_extent = {2, 2},
                 .groups = 2})};
  // With its samples as the first operand, which the tests of shards cut.
  OpRow samples = table.rows[0];
  samples.name = "samples first";
  samples.fn = [padded](Inputs in) {
    return ops::conv2d_weight_add(in[1], in[0], in[2], padded);
  };
  samples.reference = [whole =
                           samples.reference](std::span<const HostArray> in) {
    const std::array given{in[1], in[0], in[2]};
    return whole(given);
  };
  std::swap(samples.inputs[0], samples.inputs[1]);
  table.rows.push_back(samples);
  table.rows[0].zero_size = {{{3, 2, 3, 3}, {0, 2, 4, 5}, {0, 3, 4, 5}}};
  const auto call = [padded](Inputs in) {
    return ops::conv2d_weight_add(in[0], in[1], in[2], padded);
  };
  table.errors = {
      {.name = "another shape",
       .fn = call,
       .inputs = {uniform({3, 2, 3, 2}, 0, 1), uniform({2, 2, 4, 5}, 0, 1),
                  uniform({2, 3, 4, 5}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "samples",
       .fn = call,
       .inputs = {uniform({3, 2, 3, 3}, 0, 1), uniform({2, 2, 4, 5}, 0, 1),
                  uniform({1, 3, 4, 5}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "another dtype",
       .fn = call,
       .inputs = {uniform({3, 2, 3, 3}, 0, 1), uniform({2, 2, 4, 5}, 0, 1),
                  uniform({2, 3, 4, 5}, 0, 1).as(f64)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kAddListed(conv2d_weight_add_table);

}  // namespace
}  // namespace neap::testing
