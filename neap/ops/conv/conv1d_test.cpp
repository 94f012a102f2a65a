// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv1d.hpp"

#include "neap/ops/conv/conv_test.hpp"

namespace neap::testing {
namespace {

OpRow row_of(std::string name, const Shape& x, const Shape& w,
             const ConvOptions<1>& options) {
  return {.name = std::move(name),
          .fn = [options](Inputs in) { return conv1d(in[0], in[1], options); },
          .inputs = {uniform(x, -1, 1), uniform(w, -1, 1)},
          .reference = conv_reference_of(1, over_two_axes(options))};
}

OpTable conv1d_table() {
  OpRow biased = row_of("with bias", {2, 3, 6}, {4, 3, 3}, {.padding = 1});
  biased.inputs.push_back(uniform({4}, -1, 1));
  biased.fn = [](Inputs in) {
    return conv1d(in[0], in[1], in[2], {.padding = 1});
  };
  biased.shape = Shape{2, 4, 6};
  biased.zero_size = {{{0, 3, 6}, {4, 3, 3}, {4}}};
  OpTable table{.name = "conv1d"};
  table.rows = {std::move(biased),
                row_of("strided, dilated, in groups", {2, 4, 9}, {2, 2, 3},
                       {.stride = 2, .padding = 2, .dilation = 3, .groups = 2}),
                row_of("one sample", {2, 5}, {3, 2, 2}, {})};
  table.errors = {
      {.name = "rank",
       .fn = [](Inputs in) { return conv1d(in[0], in[1]); },
       .inputs = {uniform({1, 1, 2, 4}, 0, 1), uniform({3, 2, 3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "stride",
       .fn = [](Inputs in) { return conv1d(in[0], in[1], {.stride = 0}); },
       .inputs = {uniform({1, 2, 4}, 0, 1), uniform({3, 2, 3}, 0, 1)},
       .error = typeid(ValueError)}};
  return table;
}

const Listed kListed(conv1d_table);

}  // namespace
}  // namespace neap::testing
