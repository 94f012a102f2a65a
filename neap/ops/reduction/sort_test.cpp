// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/sort.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The first `count` positions of each last axis, or what stands there.
Reference in_order(std::int64_t count, bool descending, bool positions) {
  return [=](std::span<const HostArray> x) {
    std::vector<double> y;
    const std::int64_t n = x[0].shape.back();
    const std::int64_t rows = n == 0 ? 0 : x[0].shape.element_count() / n;
    for (std::int64_t r = 0; r < rows; ++r) {
      const double* row = x[0].values.data() + r * n;
      std::vector<std::int64_t> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int64_t a, std::int64_t b) {
                         return descending ? row[a] > row[b] : row[a] < row[b];
                       });
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t at = order[static_cast<std::size_t>(i)];
        y.push_back(positions ? static_cast<double>(at) : row[at]);
      }
    }
    return y;
  };
}

// All different and more than the differences' step apart.
InputSpec shuffled(const Shape& shape) {
  std::vector<double> values;
  const std::int64_t n = shape.element_count();
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<double>(i * 7 % n) / 8.0 - 1.0);
  }
  return literal(shape, values);
}

OpTable sort_table() {
  const double nan = std::nan("");
  OpTable table{.name = "sort", .op = &ops::kSort};
  table.rows = {{.name = "rows",
                 .fn = [](Inputs x) { return sort(x[0]).values; },
                 .inputs = {shuffled({3, 5})},
                 .reference = in_order(5, false, false),
                 .shape = Shape{3, 5},
                 .zero_size = {{{0, 5}}}},
                {.name = "descending, another axis",
                 .fn = [](Inputs x) { return sort(x[0], 0, true).values; },
                 .inputs = {literal({3, 2}, {1, 9, 3, 8, 2, 7})},
                 .expected = {3, 9, 2, 8, 1, 7},
                 .expected_vjp = {{1, 1, 1, 1, 1, 1}}},
                {.name = "long rows",
                 .fn = [](Inputs x) { return sort(x[0], 1, true).values; },
                 .inputs = {integers({7, 700}, -90000, 90000)},
                 .reference = in_order(700, true, false),
                 .smooth = false},
                {.name = "positions",
                 .fn = [](Inputs x) { return sort(x[0], -1, true).indices; },
                 .inputs = {integers({4, 300}, -9, 9)},
                 .reference = in_order(300, true, true),
                 .dtypes = {f32, f64, i32, i64},
                 .differentiable = false},
                {.name = "zeros, infinities and nan",
                 .fn = [](Inputs x) { return sort(x[0]).indices; },
                 .inputs = {literal({9}, {nan, 0.0, kInfinity, -0.0, -kInfinity,
                                          0.0, -1, nan, 1})},
                 .expected = {4, 6, 1, 3, 5, 8, 2, 0, 7},
                 .differentiable = false},
                {.name = "nan first where descending",
                 .fn = [](Inputs x) { return sort(x[0], 0, true).indices; },
                 .inputs = {literal({4}, {1, nan, 2, nan})},
                 .expected = {1, 3, 2, 0},
                 .differentiable = false}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return sort(x[0], 2).values; },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "bytes",
                   .fn = [](Inputs x) { return sort(x[0]).values; },
                   .inputs = {integers({3}, 0, 9).as(u8)},
                   .error = typeid(DTypeError)}};
  return table;
}

OpTable argsort_table() {
  return {.name = "argsort",
          .rows = {{.name = "rows",
                    .fn = [](Inputs x) { return argsort(x[0], 1); },
                    .inputs = {integers({4, 60}, -9, 9)},
                    .reference = in_order(60, false, true),
                    .shape = Shape{4, 60},
                    .zero_size = {{{0, 60}}},
                    .dtypes = {f32, f64, i32, i64},
                    .differentiable = false}},
          .errors = {{.name = "axis",
                      .fn = [](Inputs x) { return argsort(x[0], 2); },
                      .inputs = {uniform({2, 3}, 0, 1)},
                      .error = typeid(ShapeError),
                      .says = "axis 2 out of range"}}};
}

OpTable topk_table() {
  OpTable table{.name = "topk", .op = &ops::kTopk};
  table.rows = {{.name = "largest",
                 .fn = [](Inputs x) { return topk(x[0], 2).values; },
                 .inputs = {shuffled({3, 5})},
                 .reference = in_order(2, true, false),
                 .shape = Shape{3, 2},
                 .zero_size = {{{0, 5}}}},
                {.name = "smallest, another axis",
                 .fn = [](Inputs x) { return topk(x[0], 2, 0, false).values; },
                 .inputs = {literal({3, 2}, {1, 9, 3, 8, 2, 7})},
                 .expected = {1, 7, 2, 8},
                 .expected_vjp = {{1, 0, 0, 1, 1, 1}}},
                {.name = "few of many, with ties",
                 .fn = [](Inputs x) { return topk(x[0], 7).indices; },
                 .inputs = {integers({5, 900}, -40, 40)},
                 .reference = in_order(7, true, true),
                 .dtypes = {f32, f64, i32, i64},
                 .differentiable = false},
                {.name = "none",
                 .fn = [](Inputs x) { return topk(x[0], 0).values; },
                 .inputs = {shuffled({3, 5})},
                 .reference = in_order(0, true, false),
                 .shape = Shape{3, 0},
                 .differentiable = false}};
  table.errors = {{.name = "k",
                   .fn = [](Inputs x) { return topk(x[0], 4).values; },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ValueError)}};
  return table;
}

const Listed kSort(sort_table);
const Listed kArgsort(argsort_table);
const Listed kTopk(topk_table);

}  // namespace
}  // namespace neap::testing
