// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/argmax.hpp"

#include <algorithm>
#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Over the last axis.
std::vector<double> positions(std::span<const HostArray> x) {
  std::vector<double> y;
  const std::int64_t n = x[0].shape.back();
  for (auto row = x[0].values.begin(); row < x[0].values.end(); row += n) {
    y.push_back(static_cast<double>(std::max_element(row, row + n) - row));
  }
  return y;
}

OpTable argmax_table() {
  OpTable table{.name = "argmax", .op = &ops::kArgmax};
  table.rows = {
      {.name = "rows",
       .fn = [](Inputs x) { return argmax(x[0], 1); },
       .inputs = {uniform({4, 5}, -1, 1)},
       .reference = positions,
       .shape = Shape{4},
       .zero_size = {{{0, 3}}},
       .differentiable = false},
      {.name = "kept, from the end",
       .fn = [](Inputs x) { return argmax(x[0], -1, true); },
       .inputs = {uniform({2, 3, 4}, -1, 1)},
       .reference = positions,
       .shape = Shape{2, 3, 1},
       .differentiable = false},
      {.name = "another axis",
       .fn = [](Inputs x) { return argmax(x[0], 0); },
       .inputs = {literal({3, 2}, {1, 9, 3, 8, 2, 9})},
       .expected = {1, 0},
       .differentiable = false},
      {.name = "of all, large",
       .fn = [](Inputs x) { return argmax(x[0]); },
       .inputs = {integers({300, 250}, -2000000, 2000000)},
       .reference =
           [](std::span<const HostArray> x) {
             return positions(std::vector{HostArray{{75000}, x[0].values}});
           },
       .differentiable = false},
      {.name = "integers",
       .fn = [](Inputs x) { return argmax(x[0], 1); },
       .inputs = {integers({4, 50}, -1000, 1000)},
       .reference = positions,
       .dtypes = {i32, i64},
       .differentiable = false}};
  table.errors = {{.name = "empty axis",
                   .fn = [](Inputs x) { return argmax(x[0], 1); },
                   .inputs = {uniform({3, 0}, 0, 1)},
                   .error = typeid(ValueError)},
                  {.name = "axis",
                   .fn = [](Inputs x) { return argmax(x[0], 2); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

OpTable argmin_table() {
  const double nan = std::nan("");
  OpTable table{.name = "argmin", .op = &ops::kArgmin};
  table.rows = {{.name = "rows",
                 .fn = [](Inputs x) { return argmin(x[0], 1); },
                 .inputs = {literal({2, 4}, {3, 1, 2, 1, 5, 6, 7, 8})},
                 .expected = {1, 0},
                 .shape = Shape{2},
                 .differentiable = false},
                {.name = "another axis",
                 .fn = [](Inputs x) { return argmin(x[0], -2, true); },
                 .inputs = {literal({3, 2}, {1, 9, -3, 8, -3, 9})},
                 .expected = {1, 1},
                 .shape = Shape{1, 2},
                 .differentiable = false},
                {.name = "of all",
                 .fn = [](Inputs x) { return argmin(x[0]); },
                 .inputs = {literal({2, 3}, {4, 3, 2, 1, 0, 1})},
                 .expected = {4},
                 .shape = Shape{},
                 .dtypes = {f32, f64, i32, i64, u8},
                 .differentiable = false},
                {.name = "the first nan",
                 .fn = [](Inputs x) { return argmin(x[0]); },
                 .inputs = {literal({4}, {4, nan, nan, 1})},
                 .expected = {1},
                 .differentiable = false}};
  table.no_zero_size = "argmax has the same shape rule and engine";
  table.errors = {{.name = "empty axis",
                   .fn = [](Inputs x) { return argmin(x[0], 1); },
                   .inputs = {uniform({3, 0}, 0, 1)},
                   .error = typeid(ValueError)}};
  return table;
}

const Listed kListed(argmax_table);
const Listed kListedMin(argmin_table);

}  // namespace
}  // namespace neap::testing
