// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/scatter.hpp"

#include "neap/ops/indexing/indexing_test.hpp"

namespace neap::testing {
namespace {

OpFunction along(int axis) {
  return [axis](Inputs x) { return scatter(x[0], axis, x[1], x[2]); };
}

OpRow row(const char* name, int axis, const Shape& x, const Shape& index) {
  return {.name = name,
          .fn = along(axis),
          .inputs = {uniform(x, -1, 1), integers(index, 0, x[axis]).as(i64),
                     uniform(index, -1, 1)},
          .reference = scattered(axis, false)};
}

OpTable scatter_table() {
  OpTable table{.name = "scatter", .op = &ops::kScatter};
  table.rows = {row("last axis", 1, {3, 5}, {3, 2}),
                row("first axis, repeated", 0, {3, 5}, {7, 5}),
                row("shorter index", 1, {3, 4, 5}, {2, 3, 2}),
                row("large", 0, {257, 131}, {301, 131}),
                row("large vector, often the same", 0, {100}, {40000}),
                row("whole numbers", 0, {5, 2}, {9, 2})};
  table.rows[0].zero_size = {{{0, 5}, {0, 4}, {0, 4}}};
  table.rows[1].zero_size = {{{3, 5}, {0, 5}, {0, 5}}};
  table.rows[2].inputs[1].dtype = i32;
  table.rows[3].second_derivative = false;
  table.rows[4].second_derivative = false;
  table.rows[5].inputs[0] = integers({5, 2}, 0, 2);
  table.rows[5].inputs[2] = integers({9, 2}, 0, 2);
  table.rows[5].dtypes = {i32, i64, u8, bf16};
  const InputSpec three = literal({3}, {1, 2, 3});
  const InputSpec twice = literal({3}, {2, 0, 2}).as(i64);
  table.rows.push_back({.name = "the last one stays",
                        .fn = along(0),
                        .inputs = {three, twice, literal({3}, {10, 20, 30})},
                        .expected = {20, 2, 30},
                        .expected_vjp = {{0, 1, 0}, {0, 1, 1}}});
  table.rows.push_back(
      {.name = "a number",
       .fn = [](Inputs x) { return scatter(x[0], 0, x[1], 0.5); },
       .inputs = {three, twice},
       .expected = {0.5, 2, 0.5}});
  table.errors = {{.name = "index",
                   .fn = along(0),
                   .inputs = {three, literal({1}, {-1}).as(i64), three},
                   .error = typeid(ValueError)},
                  {.name = "shorter source",
                   .fn = along(0),
                   .inputs = {three, twice, uniform({2}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "axis",
                   .fn = along(1),
                   .inputs = {three, twice, three},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(scatter_table);

}  // namespace
}  // namespace neap::testing
