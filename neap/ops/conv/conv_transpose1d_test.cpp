// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/conv_transpose1d.hpp"

#include "neap/ops/conv/conv_test.hpp"

namespace neap::testing {
namespace {

OpTable conv_transpose1d_table() {
  OpTable table{.name = "conv_transpose1d"};
  table.rows = {{.name = "with bias",
                 .fn =
                     [](Inputs in) {
                       return conv_transpose1d(
                           in[0], in[1], in[2],
                           {.stride = 2, .padding = 1, .output_padding = 1});
                     },
                 .inputs = {uniform({2, 4, 3}, -1, 1),
                            uniform({4, 3, 3}, -1, 1), uniform({3}, -1, 1)},
                 .reference = transposed_reference_of(
                     1, over_two_axes({.stride = 2, .padding = 1}), {0, 1}),
                 .shape = Shape{2, 3, 6},
                 .zero_size = {{{0, 4, 3}, {4, 3, 3}, {3}}}},
                {.name = "one sample, in groups",
                 .fn =
                     [](Inputs in) {
                       return conv_transpose1d(in[0], in[1],
                                               {.dilation = 2, .groups = 2});
                     },
                 .inputs = {uniform({2, 4}, -1, 1), uniform({2, 3, 2}, -1, 1)},
                 .reference = transposed_reference_of(
                     1, over_two_axes({.dilation = 2, .groups = 2}))}};
  table.errors = {
      {.name = "output padding",
       .fn =
           [](Inputs in) {
             return conv_transpose1d(in[0], in[1], {.output_padding = 1});
           },
       .inputs = {uniform({2, 4, 3}, 0, 1), uniform({4, 3, 3}, 0, 1)},
       .error = typeid(ValueError)}};
  return table;
}

const Listed kListed(conv_transpose1d_table);

}  // namespace
}  // namespace neap::testing
