// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/slice.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

OpTable slice_table() {
  OpTable table{.name = "slice", .op = &ops::kSlice};
  const InputSpec six = literal({6}, {0, 1, 2, 3, 4, 5});
  table.rows = {
      {.name = "a range",
       .fn = [](Inputs x) { return slice(x[0], 0, 1, 4); },
       .inputs = {six},
       .expected = {1, 2, 3}},
      {.name = "steps",
       .fn = [](Inputs x) { return slice(x[0], 0, 1, kEnd, 2); },
       .inputs = {six},
       .expected = {1, 3, 5}},
      {.name = "steps that do not divide",
       .fn = [](Inputs x) { return slice(x[0], 0, 0, kEnd, 4); },
       .inputs = {six},
       .expected = {0, 4}},
      {.name = "from the end",
       .fn = [](Inputs x) { return slice(x[0], -1, -2); },
       .inputs = {six},
       .expected = {4, 5}},
      {.name = "another axis",
       .fn = [](Inputs x) { return slice(x[0], 1, 1, 3); },
       .inputs = {uniform({2, 4, 3}, -1, 1)},
       .reference =
           [](std::span<const HostArray> x) {
             std::vector<double> y;
             for (std::size_t i = 0; i < x[0].values.size(); ++i) {
               if (i / 3 % 4 == 1 || i / 3 % 4 == 2) {
                 y.push_back(x[0].values[i]);
               }
             }
             return y;
           },
       .shape = Shape{2, 2, 3},
       .zero_size = {{{0, 4, 3}}}},
      {.name = "nothing",
       .fn = [](Inputs x) { return slice(x[0], 0, 4, 2); },
       .inputs = {six},
       .reference =
           [](std::span<const HostArray>) { return std::vector<double>(); },
       .shape = Shape{0}}};
  table.errors = {{.name = "step",
                   .fn = [](Inputs x) { return slice(x[0], 0, 0, kEnd, 0); },
                   .inputs = {six},
                   .error = typeid(ValueError)},
                  {.name = "axis",
                   .fn = [](Inputs x) { return slice(x[0], 1, 0); },
                   .inputs = {six},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(slice_table);

}  // namespace
}  // namespace neap::testing
