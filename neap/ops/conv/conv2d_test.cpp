// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv2d.hpp"

#include "neap/ops/conv/conv_test.hpp"

namespace neap::testing {
namespace {

OpRow row_of(std::string name, const Shape& x, const Shape& w,
             const ConvOptions<2>& options) {
  return {.name = std::move(name),
          .fn = [options](Inputs in) { return conv2d(in[0], in[1], options); },
          .inputs = {uniform(x, -1, 1), uniform(w, -1, 1)},
          .reference = conv_reference_of(2, options)};
}

OpRow with_bias(OpRow row, const ConvOptions<2>& options) {
  row.inputs.push_back(uniform({row.inputs[1].shape[0]}, -1, 1));
  row.fn = [options](Inputs in) {
    return conv2d(in[0], in[1], in[2], options);
  };
  return row;
}

ErrorRow refusal(std::string name, const Shape& x, const Shape& w,
                 const ConvOptions<2>& options, std::type_index error) {
  return {.name = std::move(name),
          .fn = [options](Inputs in) { return conv2d(in[0], in[1], options); },
          .inputs = {uniform(x, 0, 1), uniform(w, 0, 1)},
          .error = error};
}

// Each row has the smallest shape that has all of its parts.
std::vector<OpRow> rows() {
  std::vector<OpRow> rows{
      row_of("padded", {2, 2, 4, 5}, {3, 2, 3, 3}, {.padding = 1}),
      row_of("strided", {2, 2, 6, 5}, {2, 2, 3, 2}, {.stride = {2, 3}}),
      row_of("a remainder of the stride", {1, 2, 6, 6}, {2, 2, 3, 3},
             {.stride = 2, .padding = {1, 0}}),
      row_of("dilated", {1, 2, 6, 7}, {2, 2, 3, 2},
             {.padding = {2, 1}, .dilation = {2, 3}}),
      row_of("groups", {2, 4, 4, 3}, {6, 2, 2, 2}, {.padding = 1, .groups = 2}),
      row_of("depthwise", {1, 3, 4, 4}, {6, 1, 3, 3},
             {.padding = 1, .groups = 3}),
      row_of("1 x 1", {2, 3, 2, 3}, {4, 3, 1, 1}, {}),
      row_of("1 x 1, strided", {1, 3, 5, 5}, {2, 3, 1, 1}, {.stride = 2}),
      row_of("more padding than kernel", {1, 1, 2, 2}, {1, 1, 1, 2},
             {.stride = 2, .padding = 3}),
      row_of("one sample", {2, 4, 4}, {3, 2, 3, 3}, {.padding = 1})};
  OpRow biased =
      with_bias(row_of("with bias", {2, 2, 4, 5}, {3, 2, 3, 3}, {}), {});
  biased.shape = Shape{2, 3, 2, 3};
  biased.zero_size = {{{0, 2, 4, 5}, {3, 2, 3, 3}, {3}},
                      {{2, 0, 4, 5}, {3, 0, 3, 3}, {3}},
                      {{2, 2, 4, 5}, {0, 2, 3, 3}, {0}}};
  rows.push_back(std::move(biased));
  return rows;
}

OpTable conv2d_table() {
  return {
      .name = "conv2d",
      .op = &ops::kConv2d,
      .rows = rows(),
      .errors = {
          refusal("channels", {1, 3, 4, 4}, {2, 2, 3, 3}, {},
                  typeid(ShapeError)),
          refusal("groups", {1, 4, 4, 4}, {3, 2, 3, 3}, {.groups = 2},
                  typeid(ShapeError)),
          refusal("kernel", {1, 2, 4, 4}, {3, 2, 3, 5}, {}, typeid(ShapeError)),
          refusal("kernel of nothing", {1, 2, 4, 4}, {3, 2, 0, 3}, {},
                  typeid(ShapeError)),
          refusal("rank", {1, 1, 2, 4, 4}, {3, 2, 3, 3}, {},
                  typeid(ShapeError)),
          refusal("weight's rank", {1, 2, 4, 4}, {3, 2, 3}, {},
                  typeid(ShapeError)),
          refusal("stride", {1, 2, 4, 4}, {3, 2, 3, 3}, {.stride = {1, 0}},
                  typeid(ValueError)),
          refusal("dilation", {1, 2, 4, 4}, {3, 2, 3, 3}, {.dilation = -1},
                  typeid(ValueError)),
          refusal("padding", {1, 2, 4, 4}, {3, 2, 3, 3}, {.padding = -1},
                  typeid(ValueError)),
          refusal("no groups", {1, 2, 4, 4}, {3, 2, 3, 3}, {.groups = 0},
                  typeid(ValueError)),
          {.name = "bias",
           .fn = [](Inputs in) { return conv2d(in[0], in[1], in[2]); },
           .inputs = {uniform({1, 2, 4, 4}, 0, 1), uniform({3, 2, 3, 3}, 0, 1),
                      uniform({2}, 0, 1)},
           .error = typeid(ShapeError)},
          {.name = "dtypes",
           .fn = [](Inputs in) { return conv2d(in[0], in[1]); },
           .inputs = {uniform({1, 2, 4, 4}, 0, 1),
                      uniform({3, 2, 3, 3}, 0, 1).as(f64)},
           .error = typeid(DTypeError)}}};
}

const Listed kListed(conv2d_table);

}  // namespace
}  // namespace neap::testing
