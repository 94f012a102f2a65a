// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/scatter_extremes.hpp"

#include <cmath>

#include "neap/ops/indexing/indexing_test.hpp"

namespace neap::testing {
namespace {

using Scatter = Tensor (*)(const Operand&, std::int64_t, const Operand&,
                           const Operand&);

// Inputs x, index, src (of the index's shape).
Reference extremes(int axis, double sign) {
  return [=](std::span<const HostArray> x) {
    std::vector<double> y = x[0].values;
    for (std::size_t i = 0; i < x[1].values.size(); ++i) {
      double& to =
          y[indexed_place(x[0].shape, x[1].shape, i, axis, x[1].values[i])];
      to = sign * std::max(sign * to, sign * x[2].values[i]);
    }
    return y;
  };
}

OpFunction along(Scatter scatter, int axis) {
  return [=](Inputs x) { return scatter(x[0], axis, x[1], x[2]); };
}

// A kink, and NaN. Place 0: x and one of src are equal; 1: two of src; 2:
// untouched.
std::vector<OpRow> special_rows(Scatter scatter, double sign) {
  const double nan = std::nan("");
  OpRow equal{.name = "equal ones",
              .fn = along(scatter, 0),
              .inputs = {literal({3}, {2 * sign, 1 * sign, 7}),
                         literal({4}, {0, 1, 1, 0}).as(i64),
                         literal({4}, {2 * sign, 4 * sign, 4 * sign, 0})},
              .expected = {2 * sign, 4 * sign, 7},
              .expected_vjp = {{0.5, 0, 1}, {0.5, 0.5, 0.5, 0}},
              .expected_jvp = {1, 1, 1}};
  OpRow with_nan{
      .name = "nan",
      .fn = along(scatter, 0),
      .inputs = {literal({3}, {nan, 1, 1}), literal({3}, {0, 1, 1}).as(i64),
                 literal({3}, {5, nan, 9})},
      .expected = {nan, nan, 1},
      .expected_vjp = {{0, 0, 1}, {0, 0, 0}}};
  for (OpRow* row : {&equal, &with_nan}) {
    row->smooth = false;
    row->second_derivative = false;
  }
  return {equal, with_nan};
}

std::vector<ErrorRow> errors_of(Scatter scatter) {
  const auto row = [&](const char* name, const InputSpec& x,
                       const InputSpec& index, const InputSpec& src,
                       std::type_index error) {
    return ErrorRow{.name = name,
                    .fn = along(scatter, 0),
                    .inputs = {x, index, src},
                    .error = error};
  };
  const InputSpec x = uniform({3}, 0, 1);
  const InputSpec index = integers({2}, 0, 3).as(i64);
  return {
      row("index", x, literal({2}, {0, 3}).as(i64), uniform({2}, 0, 1),
          typeid(ValueError)),
      row("dtypes", x, index, integers({2}, 0, 3).as(i32), typeid(DTypeError)),
      row("bytes", integers({3}, 0, 3).as(u8), index,
          integers({2}, 0, 3).as(u8), typeid(DTypeError))};
}

OpTable table_of(const char* name, const graph::Op& op, Scatter scatter,
                 double sign) {
  const auto row = [&](const char* title, int axis, const Shape& x,
                       const Shape& index) {
    return OpRow{
        .name = title,
        .fn = along(scatter, axis),
        .inputs = {uniform(x, -1, 1), integers(index, 0, x[axis]).as(i64),
                   uniform(index, -1, 1)},
        .reference = extremes(axis, sign)};
  };
  OpTable table{.name = name, .op = &op};
  table.rows = {row("last axis", 1, {3, 5}, {3, 2}),
                row("first axis, repeated", 0, {3, 5}, {7, 5}),
                row("shorter index", 1, {3, 4, 5}, {2, 3, 2}),
                row("large", 0, {257, 31}, {301, 31}),
                row("large vector, often the same", 0, {100}, {4000}),
                row("whole numbers", 0, {5, 2}, {9, 2})};
  table.rows[0].zero_size = {{{0, 5}, {0, 4}, {0, 4}}};
  table.rows[1].zero_size = {{{3, 5}, {0, 5}, {0, 5}}};
  table.rows[2].inputs[1].dtype = i32;
  table.rows[3].smooth = table.rows[4].smooth = false;
  table.rows[3].second_derivative = table.rows[4].second_derivative = false;
  table.rows[5].inputs[0] = integers({5, 2}, 0, 9);
  table.rows[5].inputs[2] = integers({9, 2}, 0, 9);
  table.rows[5].dtypes = {i32, i64};
  for (OpRow& special : special_rows(scatter, sign)) {
    table.rows.push_back(std::move(special));
  }
  table.errors = errors_of(scatter);
  return table;
}

OpTable amax_table() {
  return table_of("scatter_amax", ops::kScatterAmax, scatter_amax, 1.0);
}

OpTable amin_table() {
  return table_of("scatter_amin", ops::kScatterAmin, scatter_amin, -1.0);
}

const Listed kAmaxListed(amax_table);
const Listed kAminListed(amin_table);

}  // namespace
}  // namespace neap::testing
