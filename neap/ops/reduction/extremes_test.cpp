// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/extremes.hpp"

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

const Listed kAmaxListed(amax_table);
const Listed kAminListed(amin_table);

using Call = ValuesAndIndices (*)(const TensorOperand&, std::int64_t, bool);

// `sign` is 1 for max, -1 for min, which sees everything mirrored.
OpTable table_of(const std::string& name, Call call, double sign) {
  const double nan = std::nan("");
  const auto mirrored = [sign](std::vector<double> values) {
    for (double& value : values) {
      value *= sign;
    }
    return values;
  };
  OpTable table{.name = name};
  table.rows = {{.name = "values",
                 .fn = [=](Inputs x) { return call(x[0], 1, false).values; },
                 .inputs = {literal({2, 3}, mirrored({1, 4, 2, 8, 5, 7}))},
                 .expected = mirrored({4, 8}),
                 .shape = Shape{2}},
                {.name = "indices, kept",
                 .fn = [=](Inputs x) { return call(x[0], -2, true).indices; },
                 .inputs = {literal({2, 3}, mirrored({1, 5, 2, 8, 4, 2}))},
                 .expected = {1, 0, 0},
                 .shape = Shape{1, 3},
                 .dtypes = {f32, f64, i32, i64},
                 .differentiable = false},
                {.name = "the first of equal ones",
                 .fn = [=](Inputs x) { return call(x[0], 1, false).values; },
                 .inputs = {literal({2, 3}, mirrored({1, 4, 4, 2, 2, 2}))},
                 .expected = mirrored({4, 2}),
                 .expected_vjp = {{0, 1, 0, 1, 0, 0}},
                 .expected_jvp = {1, 1},
                 .smooth = false},
                {.name = "nan",
                 .fn = [=](Inputs x) { return call(x[0], 0, false).values; },
                 .inputs = {literal({3}, {1, nan, 2})},
                 .expected = {nan},
                 .differentiable = false}};
  table.no_zero_size = "an axis without elements has none to choose";
  table.errors = {{.name = "axis",
                   .fn = [=](Inputs x) { return call(x[0], 2, false).values; },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "empty axis",
                   .fn = [=](Inputs x) { return call(x[0], 1, false).values; },
                   .inputs = {uniform({2, 0}, 0, 1)},
                   .error = typeid(ValueError)}};
  return table;
}

const Listed kMax([] { return table_of("max", max, 1.0); });
const Listed kMin([] { return table_of("min", min, -1.0); });

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

const Listed kArgmaxListed(argmax_table);
const Listed kArgminListed(argmin_table);

}  // namespace
}  // namespace neap::testing
