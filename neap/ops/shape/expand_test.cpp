// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/expand.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

OpTable expand_table() {
  OpTable table{.name = "expand", .op = &ops::kExpand};
  table.rows = {
      {.name = "new and stretched axes",
       .fn =
           [](Inputs x) {
             return expand(x[0], {2, 3, 4});
           },
       .inputs = {uniform({3, 1}, -1, 1)},
       .reference =
           [](std::span<const HostArray> x) {
             std::vector<double> y;
             for (std::size_t i = 0; i < 24; ++i) {
               y.push_back(x[0].values[i / 4 % 3]);
             }
             return y;
           },
       .shape = Shape{2, 3, 4}},
      {.name = "rank 0",
       .fn = [](Inputs x) { return expand(x[0], {3}); },
       .inputs = {uniform({}, -1, 1)},
       .reference =
           [](std::span<const HostArray> x) {
             return std::vector<double>(3, x[0].values[0]);
           }},
      {.name = "to nothing",
       .fn =
           [](Inputs x) {
             return expand(x[0], {0, 2});
           },
       .inputs = {uniform({1, 2}, -1, 1)},
       .reference =
           [](std::span<const HostArray>) { return std::vector<double>(); },
       .zero_size = {{{0, 1}}}}};
  table.errors = {{.name = "shape",
                   .fn =
                       [](Inputs x) {
                         return expand(x[0], {3, 4});
                       },
                   .inputs = {uniform({3, 2}, -1, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(expand_table);

}  // namespace
}  // namespace neap::testing
