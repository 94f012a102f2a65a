// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/permute.hpp"

#include "neap/ops/shape/transpose.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Axes (0, 1, 2) as (2, 0, 1).
std::vector<double> rotated(std::span<const HostArray> x) {
  const Shape& shape = x[0].shape;
  std::vector<double> y;
  for (std::int64_t k = 0; k < shape[2]; ++k) {
    for (std::int64_t i = 0; i < shape[0] * shape[1]; ++i) {
      y.push_back(x[0].values[static_cast<std::size_t>(i * shape[2] + k)]);
    }
  }
  return y;
}

OpTable permute_table() {
  OpTable table{.name = "permute", .op = &ops::kPermute};
  table.rows = {{.name = "three axes",
                 .fn =
                     [](Inputs x) {
                       return permute(x[0], {2, 0, -2});
                     },
                 .inputs = {uniform({2, 3, 4}, -1, 1)},
                 .reference = rotated,
                 .shape = Shape{4, 2, 3},
                 .zero_size = {{{2, 0, 3}}}},
                {.name = "transpose",
                 .fn = [](Inputs x) { return transpose(x[0]); },
                 .inputs = {literal({2, 3}, {1, 2, 3, 4, 5, 6})},
                 .expected = {1, 4, 2, 5, 3, 6},
                 .shape = Shape{3, 2}}};
  table.errors = {{.name = "not a permutation",
                   .fn =
                       [](Inputs x) {
                         return permute(x[0], {0, 0});
                       },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "too few axes",
                   .fn = [](Inputs x) { return permute(x[0], {0}); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "transpose's axis",
                   .fn = [](Inputs x) { return transpose(x[0], 0, 2); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "transpose:"}};
  return table;
}

const Listed kListed(permute_table);

}  // namespace
}  // namespace neap::testing
