// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/sum.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// The sum of a (a, b, c) over its middle axis.
std::vector<double> over_middle(std::span<const HostArray> x) {
  const Shape& shape = x[0].shape;
  std::vector<double> y(static_cast<std::size_t>(shape[0] * shape[2]), 0.0);
  for (std::size_t i = 0; i < x[0].values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t outer = at / (shape[1] * shape[2]);
    y[static_cast<std::size_t>(outer * shape[2] + at % shape[2])] +=
        x[0].values[i];
  }
  return y;
}

std::vector<double> total(std::span<const HostArray> x) {
  double sum = 0.0;
  for (const double value : x[0].values) {
    sum += value;
  }
  return {sum};
}

OpTable sum_table() {
  OpTable table{.name = "sum", .op = &ops::kSum};
  table.rows = {{.name = "all",
                 .fn = [](Inputs x) { return sum(x[0]); },
                 .inputs = {uniform({3, 5}, -1, 1)},
                 .reference = total,
                 .shape = Shape{},
                 .zero_size = {{{0, 4}}, {{0}}}},
                {.name = "an axis",
                 .fn = [](Inputs x) { return sum(x[0], {1}); },
                 .inputs = {uniform({2, 3, 4}, -1, 1)},
                 .reference = over_middle,
                 .shape = Shape{2, 4},
                 .zero_size = {{{2, 0, 4}}, {{0, 3, 4}}}},
                {.name = "kept, from the end",
                 .fn = [](Inputs x) { return sum(x[0], {-2}, true); },
                 .inputs = {uniform({2, 3, 4}, -1, 1)},
                 .reference = over_middle,
                 .shape = Shape{2, 1, 4}},
                {.name = "two axes",
                 .fn =
                     [](Inputs x) {
                       return sum(x[0], {0, 2});
                     },
                 .inputs = {literal({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                 .expected = {14, 22},
                 .shape = Shape{2}},
                {.name = "integers",
                 .fn = [](Inputs x) { return sum(x[0], {1}); },
                 .inputs = {integers({2, 3, 4}, -9, 9)},
                 .reference = over_middle,
                 .dtypes = {i32, i64}},
                {.name = "large",
                 .fn = [](Inputs x) { return sum(x[0]); },
                 .inputs = {uniform({263, 301}, -1, 1)},
                 .reference = total,
                 .f32_value = {1e-4, 1e-2},
                 .f64_value = {1e-12, 1e-10},
                 .f32_derivative = {1e-4, 1e-2},
                 .second_derivative = false},
                {.name = "large, an axis",
                 .fn = [](Inputs x) { return sum(x[0], {1}); },
                 .inputs = {uniform({5, 301, 67}, -1, 1)},
                 .reference = over_middle,
                 .f32_value = {1e-4, 1e-4},
                 .f32_derivative = {1e-4, 1e-4},
                 .second_derivative = false}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return sum(x[0], {2}); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "axis twice",
                   .fn =
                       [](Inputs x) {
                         return sum(x[0], {0, -2});
                       },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kSumListed(sum_table);

OpTable mean_table() {
  OpTable table{.name = "mean"};
  table.rows = {{.name = "all",
                 .fn = [](Inputs x) { return mean(x[0]); },
                 .inputs = {uniform({3, 5}, -1, 1)},
                 .reference =
                     [](std::span<const HostArray> x) {
                       double sum = 0.0;
                       for (const double value : x[0].values) {
                         sum += value;
                       }
                       return std::vector<double>{sum / 15.0};
                     },
                 .shape = Shape{}},
                {.name = "an axis",
                 .fn = [](Inputs x) { return mean(x[0], {0}, true); },
                 .inputs = {literal({2, 3}, {1, 2, 3, 5, 8, 13})},
                 .expected = {3, 5, 8},
                 .shape = Shape{1, 3}},
                {.name = "of nothing, and nothing",
                 .fn = [](Inputs x) { return mean(x[0], {1}); },
                 .inputs = {uniform({3, 1}, -1, 1)},
                 .reference =
                     [](std::span<const HostArray> x) {
                       return x[0].shape[1] == 1
                                  ? x[0].values
                                  : std::vector<double>(
                                        static_cast<std::size_t>(x[0].shape[0]),
                                        std::nan(""));
                     },
                 .zero_size = {{{0, 4}}}}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return mean(x[0], {3}); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "axis 3 out of range"}};
  return table;
}

const Listed kMeanListed(mean_table);

std::vector<double> sum_of_squares_total(std::span<const HostArray> x) {
  double sum = 0.0;
  for (const double value : x[0].values) {
    sum += value * value;
  }
  return {sum};
}

Tensor squares(Inputs x) {
  return sum_of_squares(x[0]);
}

OpTable sum_of_squares_table() {
  OpTable table{.name = "sum_of_squares", .op = &ops::kSumOfSquares};
  table.rows = {{.name = "plain",
                 .fn = squares,
                 .inputs = {uniform({3, 5}, -2, 2)},
                 .reference = sum_of_squares_total,
                 .shape = Shape{},
                 .zero_size = {{{0, 4}}}},
                {.name = "large",
                 .fn = squares,
                 .inputs = {uniform({263, 301}, -1, 1)},
                 .reference = sum_of_squares_total,
                 .f32_derivative = {1e-4, 1e-2},
                 .second_derivative = false}};
  table.errors = {{.name = "integers",
                   .fn = squares,
                   .inputs = {integers({3}, 0, 5).as(i32)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kSumOfSquaresListed(sum_of_squares_table);

}  // namespace
}  // namespace neap::testing
