// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/amax.hpp"

#include <algorithm>
#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

double largest(const std::vector<double>& x) {
  return *std::max_element(x.begin(), x.end());
}

// Over axis 1 of a matrix.
std::vector<double> row_maxima(std::span<const HostArray> x) {
  std::vector<double> y;
  const std::int64_t columns = x[0].shape[1];
  for (std::int64_t i = 0; i < x[0].shape[0]; ++i) {
    const auto row = x[0].values.begin() + i * columns;
    y.push_back(*std::max_element(row, row + columns));
  }
  return y;
}

// All different and more than the differences' step apart.
InputSpec ladder(const Shape& shape) {
  std::vector<double> values;
  const std::int64_t n = shape.element_count();
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<double>(i * 7 % n) / 8.0);
  }
  return literal(shape, values);
}

OpTable amax_table() {
  OpTable table{.name = "amax", .op = &ops::kAmax};
  table.rows = {{.name = "all",
                 .fn = [](Inputs x) { return amax(x[0]); },
                 .inputs = {ladder({3, 5})},
                 .reference =
                     [](std::span<const HostArray> x) {
                       return std::vector<double>{largest(x[0].values)};
                     },
                 .shape = Shape{}},
                {.name = "rows",
                 .fn = [](Inputs x) { return amax(x[0], {1}); },
                 .inputs = {ladder({4, 5})},
                 .reference = row_maxima,
                 .shape = Shape{4},
                 .zero_size = {{{0, 3}}}},
                {.name = "rows, kept",
                 .fn = [](Inputs x) { return amax(x[0], {-1}, true); },
                 .inputs = {ladder({4, 5})},
                 .reference = row_maxima,
                 .shape = Shape{4, 1}},
                {.name = "large",
                 .fn = [](Inputs x) { return amax(x[0], {1}); },
                 .inputs = {integers({257, 130}, -1000000, 1000000)},
                 .reference = row_maxima,
                 .smooth = false},
                {.name = "integers",
                 .fn = [](Inputs x) { return amax(x[0], {1}); },
                 .inputs = {integers({3, 5}, -9, 9)},
                 .reference = row_maxima,
                 .dtypes = {i32, i64}},
                {.name = "equal largest elements",
                 .fn = [](Inputs x) { return amax(x[0], {1}); },
                 .inputs = {literal({2, 4}, {1, 3, 3, 2, -1, -1, -1, -1})},
                 .expected = {3, -1},
                 .expected_vjp = {{0, 0.5, 0.5, 0, 0.25, 0.25, 0.25, 0.25}},
                 .expected_jvp = {1, 1},
                 .smooth = false},
                {.name = "nan",
                 .fn = [](Inputs x) { return amax(x[0]); },
                 .inputs = {literal({3}, {1, std::nan(""), 2})},
                 .expected = {std::nan("")},
                 .differentiable = false}};
  table.errors = {{.name = "no element",
                   .fn = [](Inputs x) { return amax(x[0]); },
                   .inputs = {uniform({0, 3}, 0, 1)},
                   .error = typeid(ValueError)},
                  {.name = "axis",
                   .fn = [](Inputs x) { return amax(x[0], {2}); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "axis twice",
                   .fn =
                       [](Inputs x) {
                         return amax(x[0], {1, -1});
                       },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

std::vector<double> negative(std::vector<double> x) {
  for (double& value : x) {
    value = -value;
  }
  return x;
}

// amin is the negative of amax of the negative.
OpTable amin_table() {
  OpTable table{.name = "amin", .op = &ops::kAmin};
  table.rows = {{.name = "all",
                 .fn = [](Inputs x) { return amin(x[0]); },
                 .inputs = {ladder({3, 5})},
                 .expected = {0},
                 .shape = Shape{}},
                {.name = "rows, kept",
                 .fn = [](Inputs x) { return amin(x[0], {-1}, true); },
                 .inputs = {ladder({4, 5})},
                 .reference =
                     [](std::span<const HostArray> x) {
                       const HostArray y{x[0].shape, negative(x[0].values)};
                       return negative(row_maxima({&y, 1}));
                     },
                 .shape = Shape{4, 1},
                 .zero_size = {{{0, 3}}}},
                {.name = "integers",
                 .fn = [](Inputs x) { return amin(x[0], {0}); },
                 .inputs = {literal({2, 3}, {1, -5, 3, 0, 7, 3})},
                 .expected = {0, -5, 3},
                 .dtypes = {i32, i64}},
                {.name = "equal smallest elements",
                 .fn = [](Inputs x) { return amin(x[0], {1}); },
                 .inputs = {literal({2, 4}, {1, 3, 1, 2, -1, -1, -1, -1})},
                 .expected = {1, -1},
                 .expected_vjp = {{0.5, 0, 0.5, 0, 0.25, 0.25, 0.25, 0.25}},
                 .expected_jvp = {1, 1},
                 .smooth = false},
                {.name = "nan",
                 .fn = [](Inputs x) { return amin(x[0]); },
                 .inputs = {literal({3}, {1, std::nan(""), 2})},
                 .expected = {std::nan("")},
                 .differentiable = false}};
  table.errors = {{.name = "no element",
                   .fn = [](Inputs x) { return amin(x[0]); },
                   .inputs = {uniform({0, 3}, 0, 1)},
                   .error = typeid(ValueError)}};
  return table;
}

const Listed kListed(amax_table);
const Listed kListedMin(amin_table);

}  // namespace
}  // namespace neap::testing
