// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/gather.hpp"

#include "neap/ops/indexing/indexing_test.hpp"

namespace neap::testing {
namespace {

OpFunction along(int axis) {
  return [axis](Inputs x) { return gather(x[0], axis, x[1]); };
}

OpRow row(const char* name, int axis, const Shape& x, const Shape& index) {
  return {.name = name,
          .fn = along(axis),
          .inputs = {uniform(x, -1, 1), integers(index, 0, x[axis]).as(i64)},
          .reference = gathered(axis)};
}

ErrorRow refused(const char* name, const InputSpec& index,
                 std::type_index error, const char* says) {
  return {.name = name,
          .fn = along(1),
          .inputs = {uniform({2, 3}, 0, 1), index},
          .error = error,
          .says = says};
}

OpTable gather_table() {
  OpTable table{.name = "gather", .op = &ops::kGather};
  table.rows = {row("last axis", 1, {3, 5}, {3, 4}),
                row("first axis, repeated", 0, {3, 5}, {7, 5}),
                row("middle axis", 1, {2, 4, 3}, {2, 6, 3}),
                row("shorter index", 1, {3, 4, 5}, {2, 3, 2}),
                row("large", 0, {257, 131}, {301, 131}),
                row("large vector", 0, {100}, {40000}),
                row("whole numbers", 0, {5, 2}, {3, 2})};
  table.rows[0].zero_size = {{{0, 5}, {0, 4}}};
  table.rows[1].zero_size = {{{3, 5}, {0, 5}}};
  table.rows[3].inputs[1].dtype = i32;
  table.rows[4].second_derivative = false;
  table.rows[5].second_derivative = false;
  table.rows[6].inputs[0] = integers({5, 2}, 0, 2);
  table.rows[6].dtypes = {i32, i64, u8, bf16};
  table.errors = {
      refused("index too large", literal({2, 2}, {0, 1, 2, 3}).as(i64),
              typeid(ValueError),
              "gather: index 3 at [1, 1], axis 1 has 3 elements"),
      refused("index negative", literal({2, 2}, {0, -1, 2, 1}).as(i32),
              typeid(ValueError), "gather: index -1 at [0, 1]"),
      refused("index of floats", literal({2, 2}, {0, 1, 2, 1}),
              typeid(DTypeError), "gather: the index is f32"),
      refused("rank", literal({2}, {0, 1}).as(i64), typeid(ShapeError),
              "gather:"),
      refused("longer index", integers({3, 2}, 0, 2).as(i64),
              typeid(ShapeError), "gather:")};
  return table;
}

const Listed kListed(gather_table);

}  // namespace
}  // namespace neap::testing
