// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/searchsorted.hpp"

#include <cmath>
#include <limits>

#include "neap/ops/reduction/sort.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Counts in rows that need not be sorted first: how many are less, or no
// greater.
Reference counted(bool right) {
  return [=](std::span<const HostArray> x) {
    const std::int64_t n = x[0].shape.back();
    const std::int64_t m = x[1].shape.back();
    std::vector<double> y;
    for (std::size_t i = 0; i < x[1].values.size(); ++i) {
      const std::int64_t row =
          x[0].shape.rank() == 1 ? 0 : static_cast<std::int64_t>(i) / m;
      double count = 0.0;
      for (std::int64_t j = 0; j < n; ++j) {
        const double there = x[0].values[static_cast<std::size_t>(row * n + j)];
        const double value = x[1].values[i];
        count += there < value || (right && there == value) ? 1.0 : 0.0;
      }
      y.push_back(count);
    }
    return y;
  };
}

OpFunction search(bool right) {
  return [=](Inputs x) { return searchsorted(sort(x[0]).values, x[1], right); };
}

OpTable searchsorted_table() {
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  OpTable table{.name = "searchsorted", .op = &ops::kSearchsorted};
  const auto row = [](const char* name, bool right, const Shape& sorted,
                      const Shape& values) {
    return OpRow{.name = name,
                 .fn = search(right),
                 .inputs = {integers(sorted, -9, 9), integers(values, -11, 11)},
                 .reference = counted(right),
                 .shape = values,
                 .dtypes = {f32, f64, i32, i64},
                 .differentiable = false};
  };
  table.rows = {row("before equal ones", false, {3, 12}, {3, 7}),
                row("behind equal ones", true, {2, 3, 12}, {2, 3, 7}),
                row("one row for all", false, {12}, {4, 5}),
                row("many", true, {700}, {50, 90})};
  table.rows[0].zero_size = {{{3, 0}, {3, 7}}, {{3, 12}, {3, 0}}};
  table.rows.push_back({.name = "infinities and nan",
                        .fn = [](Inputs x) { return searchsorted(x[0], x[1]); },
                        .inputs = {literal({5}, {-inf, -1, 2, inf, nan}),
                                   literal({5}, {nan, inf, -inf, 0, -0.5})},
                        .expected = {4, 3, 0, 2, 2},
                        .differentiable = false});
  table.rows.push_back(
      {.name = "behind infinities and nan",
       .fn = [](Inputs x) { return searchsorted(x[0], x[1], true); },
       .inputs = {literal({5}, {-inf, -1, 2, inf, nan}),
                  literal({4}, {nan, inf, -inf, 2})},
       .expected = {5, 4, 1, 3},
       .differentiable = false});
  const auto error = [](const char* name, const InputSpec& sorted,
                        const InputSpec& values, std::type_index type) {
    return ErrorRow{.name = name,
                    .fn = [](Inputs x) { return searchsorted(x[0], x[1]); },
                    .inputs = {sorted, values},
                    .error = type};
  };
  table.errors = {error("axes", uniform({2, 3}, 0, 1), uniform({3, 3}, 0, 1),
                        typeid(ShapeError)),
                  error("no axis", uniform({}, 0, 1), uniform({3}, 0, 1),
                        typeid(ShapeError)),
                  error("dtypes", integers({3}, 0, 5).as(i32),
                        integers({3}, 0, 5).as(i64), typeid(DTypeError)),
                  error("bytes", integers({3}, 0, 5).as(u8),
                        integers({3}, 0, 5).as(u8), typeid(DTypeError))};
  return table;
}

const Listed kListed(searchsorted_table);

}  // namespace
}  // namespace neap::testing
