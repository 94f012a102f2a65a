// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/scatter_add.hpp"

#include "neap/ops/indexing/indexing_test.hpp"

namespace neap::testing {
namespace {

OpFunction along(int axis) {
  return [axis](Inputs x) { return scatter_add(x[0], axis, x[1], x[2]); };
}

OpRow row(const char* name, int axis, const Shape& x, const Shape& index) {
  return {.name = name,
          .fn = along(axis),
          .inputs = {uniform(x, -1, 1), integers(index, 0, x[axis]).as(i64),
                     uniform(index, -1, 1)},
          .reference = scattered(axis, true),
          .f32_value = {1e-5, 1e-4}};
}

OpTable scatter_add_table() {
  OpTable table{.name = "scatter_add", .op = &ops::kScatterAdd};
  table.rows = {row("last axis", 1, {3, 5}, {3, 4}),
                row("first axis, repeated", 0, {3, 5}, {7, 5}),
                row("middle axis", 1, {2, 4, 3}, {2, 6, 3}),
                row("shorter index", 1, {3, 4, 5}, {2, 3, 2}),
                row("large", 0, {257, 131}, {301, 131}),
                row("large vector, often the same", 0, {100}, {40000}),
                row("whole numbers", 0, {5, 2}, {9, 2})};
  table.rows[0].zero_size = {{{0, 5}, {0, 4}, {0, 4}}};
  table.rows[1].zero_size = {{{3, 5}, {0, 5}, {0, 5}}};
  table.rows[3].inputs[1].dtype = i32;
  table.rows[4].second_derivative = false;
  table.rows[5].second_derivative = false;
  table.rows[6].inputs[0] = integers({5, 2}, -9, 9);
  table.rows[6].inputs[2] = integers({9, 2}, -9, 9);
  table.rows[6].dtypes = {i32, i64};
  table.rows.push_back(
      {.name = "longer source",
       .fn = along(0),
       .inputs = {literal({3}, {1, 2, 3}), literal({2}, {2, 2}).as(i64),
                  literal({4}, {10, 20, 30, 40})},
       .expected = {1, 2, 33}});
  const InputSpec x = uniform({2, 3}, 0, 1);
  const InputSpec index = integers({2, 3}, 0, 2).as(i64);
  table.errors = {
      {.name = "index",
       .fn = along(0),
       .inputs = {x, literal({1, 3}, {0, 2, 1}).as(i64), x},
       .error = typeid(ValueError),
       .says = "scatter_add: index 2 at [0, 1], axis 0 has 2 elements"},
      {.name = "shorter source",
       .fn = along(0),
       .inputs = {x, index, uniform({2, 2}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "dtypes",
       .fn = along(0),
       .inputs = {x, index, uniform({2, 3}, 0, 1).as(f64)},
       .error = typeid(DTypeError)},
      {.name = "bytes",
       .fn = along(0),
       .inputs = {integers({2, 3}, 0, 2).as(u8), index,
                  integers({2, 3}, 0, 2).as(u8)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(scatter_add_table);

}  // namespace
}  // namespace neap::testing
