// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv_transpose2d.hpp"

#include "neap/ops/conv/conv_test.hpp"

namespace neap::testing {
namespace {

OpRow row_of(std::string name, const Shape& x, const Shape& w,
             const ConvTransposeOptions<2>& options) {
  return {
      .name = std::move(name),
      .fn = [options](
                Inputs in) { return conv_transpose2d(in[0], in[1], options); },
      .inputs = {uniform(x, -1, 1), uniform(w, -1, 1)},
      .reference = transposed_reference_of(
          2,
          {options.stride, options.padding, options.dilation, options.groups},
          {options.output_padding[0], options.output_padding[1]})};
}

ErrorRow refusal(std::string name, const Shape& x, const Shape& w,
                 const ConvTransposeOptions<2>& options,
                 std::type_index error) {
  return {
      .name = std::move(name),
      .fn = [options](
                Inputs in) { return conv_transpose2d(in[0], in[1], options); },
      .inputs = {uniform(x, 0, 1), uniform(w, 0, 1)},
      .error = error};
}

std::vector<OpRow> rows() {
  std::vector<OpRow> rows{
      row_of("padded", {2, 2, 4, 3}, {2, 3, 3, 3}, {.padding = 1}),
      row_of("strided", {1, 2, 3, 3}, {2, 2, 2, 3}, {.stride = {2, 3}}),
      row_of("output padding", {1, 2, 3, 3}, {2, 2, 3, 3},
             {.stride = 2, .padding = 1, .output_padding = {1, 0}}),
      row_of("output padding by dilation", {1, 2, 3, 3}, {2, 1, 2, 2},
             {.output_padding = 2, .dilation = 3}),
      row_of("gaps that nothing reaches", {1, 1, 3, 2}, {1, 2, 1, 1},
             {.stride = 3}),
      row_of("groups", {2, 4, 3, 3}, {4, 3, 2, 2}, {.stride = 2, .groups = 2}),
      row_of("more padding than kernel", {1, 2, 5, 6}, {2, 2, 2, 1},
             {.padding = 2}),
      row_of("one sample", {2, 3, 3}, {2, 3, 2, 2}, {.stride = 2})};
  OpRow biased = row_of("with bias", {2, 2, 3, 2}, {2, 3, 3, 2}, {});
  biased.inputs.push_back(uniform({3}, -1, 1));
  biased.fn = [](Inputs in) { return conv_transpose2d(in[0], in[1], in[2]); };
  biased.shape = Shape{2, 3, 5, 3};
  biased.zero_size = {{{0, 2, 3, 2}, {2, 3, 3, 2}, {3}},
                      {{2, 0, 3, 2}, {0, 3, 3, 2}, {3}}};
  rows.push_back(std::move(biased));
  return rows;
}

OpTable conv_transpose2d_table() {
  return {
      .name = "conv_transpose2d",
      .op = &ops::kConvTranspose2d,
      .rows = rows(),
      .errors = {
          refusal("channels", {1, 3, 4, 4}, {2, 2, 3, 3}, {},
                  typeid(ShapeError)),
          refusal("nothing left", {1, 2, 1, 1}, {2, 2, 1, 1}, {.padding = 1},
                  typeid(ShapeError)),
          refusal("output padding", {1, 2, 4, 4}, {2, 2, 3, 3},
                  {.stride = 2, .output_padding = 2}, typeid(ValueError)),
          {.name = "bias",
           .fn =
               [](Inputs in) { return conv_transpose2d(in[0], in[1], in[2]); },
           .inputs = {uniform({1, 2, 4, 4}, 0, 1), uniform({2, 3, 3, 3}, 0, 1),
                      uniform({2}, 0, 1)},
           .error = typeid(ShapeError)}}};
}

const Listed kListed(conv_transpose2d_table);

}  // namespace
}  // namespace neap::testing
