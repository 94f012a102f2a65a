// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/index.hpp"

#include <gtest/gtest.h>

#include "neap/graph/vertex.hpp"
#include "neap/ops/indexing/indexing_test.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// The same index all along the other axes.
std::vector<HostArray> spread(std::span<const HostArray> x, int axis) {
  std::vector<HostArray> out(x.begin(), x.end());
  HostArray& index = out[1];
  index.shape = x[0].shape;
  index.shape[axis] = x[1].shape[0];
  std::int64_t inner = 1;
  for (int a = axis + 1; a < index.shape.rank(); ++a) {
    inner *= index.shape[a];
  }
  index.values.clear();
  for (std::int64_t i = 0; i < index.shape.element_count(); ++i) {
    index.values.push_back(
        x[1].values[static_cast<std::size_t>(i / inner % x[1].shape[0])]);
  }
  return out;
}

Reference selected(int axis) {
  return [axis](std::span<const HostArray> x) {
    return gathered(axis)(spread(x, axis));
  };
}

OpRow select_row(const char* name, int axis, const Shape& from,
                 std::int64_t n) {
  return {
      .name = name,
      .fn = [axis](Inputs x) { return index_select(x[0], axis, x[1]); },
      .inputs = {uniform(from, -1, 1), integers({n}, 0, from[axis]).as(i64)},
      .reference = selected(axis)};
}

OpTable index_select_table() {
  OpTable table{.name = "index_select"};
  table.rows = {select_row("rows", 0, {4, 3}, 7),
                select_row("columns", 1, {4, 3}, 2),
                select_row("middle", 1, {2, 4, 3}, 5),
                select_row("large", 0, {100, 257}, 300),
                select_row("whole numbers", 0, {4, 3}, 7)};
  table.rows[0].zero_size = {{{4, 3}, {0}}, {{4, 0}, {2}}};
  table.rows[1].inputs[1].dtype = i32;
  table.rows[3].second_derivative = false;
  table.rows[4].inputs[0] = integers({4, 3}, 0, 2);
  table.rows[4].dtypes = {i64, u8, bf16};
  table.errors = {
      {.name = "index",
       .fn = [](Inputs x) { return index_select(x[0], -1, x[1]); },
       .inputs = {uniform({4, 3}, 0, 1), literal({3}, {0, 2, 3}).as(i64)},
       .error = typeid(ValueError),
       .says = "index_select: index 3 at [2], axis 1 has 3 elements"},
      {.name = "rank",
       .fn = [](Inputs x) { return index_select(x[0], 0, x[1]); },
       .inputs = {uniform({4, 3}, 0, 1), literal({1, 1}, {0}).as(i64)},
       .error = typeid(ShapeError)}};
  return table;
}

const Listed kSelectListed(index_select_table);

OpRow add_row(const char* name, int axis, const Shape& to, std::int64_t n) {
  Shape src = to;
  src[axis] = n;
  return {.name = name,
          .fn = [axis](Inputs x) { return index_add(x[0], axis, x[1], x[2]); },
          .inputs = {uniform(to, -1, 1), integers({n}, 0, to[axis]).as(i64),
                     uniform(src, -1, 1)},
          .reference =
              [axis](std::span<const HostArray> x) {
                return scattered(axis, true)(spread(x, axis));
              },
          .f32_value = {1e-5, 1e-5}};
}

OpTable index_add_table() {
  OpTable table{.name = "index_add"};
  table.rows = {add_row("rows", 0, {4, 3}, 7), add_row("columns", 1, {4, 3}, 2),
                add_row("middle", 1, {2, 4, 3}, 5),
                add_row("large", 0, {100, 257}, 300)};
  table.rows[0].zero_size = {{{4, 3}, {0}, {0, 3}}};
  table.rows[3].second_derivative = false;
  table.rows.push_back(
      {.name = "a factor",
       .fn = [](Inputs x) { return index_add(x[0], 0, x[1], x[2], -2); },
       .inputs = {literal({3}, {1, 2, 3}), literal({2}, {2, 2}).as(i64),
                  literal({2}, {10, 20})},
       .expected = {1, 2, -57}});
  table.errors = {
      {.name = "source",
       .fn = [](Inputs x) { return index_add(x[0], 0, x[1], x[2]); },
       .inputs = {uniform({4, 3}, 0, 1), literal({2}, {0, 1}).as(i64),
                  uniform({3, 3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "index",
       .fn = [](Inputs x) { return index_add(x[0], 0, x[1], x[2]); },
       .inputs = {uniform({4, 3}, 0, 1), literal({1}, {-1}).as(i64),
                  uniform({1, 3}, 0, 1)},
       .error = typeid(ValueError)}};
  return table;
}

const Listed kAddListed(index_add_table);

Tensor of_two(Inputs x) {
  return index(x[0], {x[1], x[2]});
}

// x (3, 4, 2) at indices i (2, 1) and j (3).
std::vector<double> two(std::span<const HostArray> x) {
  std::vector<double> y;
  for (const double i : x[1].values) {
    for (const double j : x[2].values) {
      const auto row = static_cast<std::size_t>(i < 0 ? i + 3 : i) * 4 +
                       static_cast<std::size_t>(j < 0 ? j + 4 : j);
      y.push_back(x[0].values[2 * row]);
      y.push_back(x[0].values[2 * row + 1]);
    }
  }
  return y;
}

OpTable index_table() {
  const InputSpec from = uniform({3, 4, 2}, -1, 1);
  const InputSpec i = literal({2, 1}, {-1, 1}).as(i64);
  const InputSpec j = literal({3}, {3, -4, 3}).as(i32);
  return {.name = "index",
          .rows = {{.name = "two axes, broadcast",
                    .fn = of_two,
                    .inputs = {from, i, j},
                    .reference = two,
                    .shape = Shape{2, 3, 2}},
                   {.name = "every axis",
                    .fn = of_two,
                    .inputs = {literal({2, 2}, {1, 2, 3, 4}),
                               literal({3}, {0, 1, 0}).as(i64),
                               literal({3}, {1, 0, 1}).as(i64)},
                    .expected = {2, 3, 2}},
                   {.name = "one axis",
                    .fn = [](Inputs x) { return index(x[0], {x[1]}); },
                    .inputs = {literal({3, 2}, {0, 1, 2, 3, 4, 5}),
                               literal({}, {-1}).as(i64)},
                    .expected = {4, 5},
                    .shape = Shape{2}},
                   {.name = "none",
                    .fn = [](Inputs x) { return index(x[0], {}); },
                    .inputs = {literal({2}, {1, 2})},
                    .expected = {1, 2}}},
          .errors = {{.name = "too far",
                      .fn = of_two,
                      .inputs = {from, i, literal({2}, {0, -5}).as(i64)},
                      .error = typeid(ValueError),
                      .says = "index: index -5 at [1], axis 1 has 4 elements"},
                     {.name = "shapes",
                      .fn = of_two,
                      .inputs = {from, literal({2}, {0, 1}).as(i64), j},
                      .error = typeid(ShapeError)},
                     {.name = "too many",
                      .fn = of_two,
                      .inputs = {uniform({3}, 0, 1), i, j},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "gather has them"};
}

const Listed kIndexListed(index_table);

OpTable take_table() {
  return {
      .name = "take",
      .rows = {{.name = "plain",
                .fn = [](Inputs x) { return take(x[0], x[1]); },
                .inputs = {literal({2, 3}, {0, 1, 2, 3, 4, 5}),
                           literal({2, 2}, {4, -1, 0, -6}).as(i64)},
                .expected = {4, 5, 0, 0},
                .shape = Shape{2, 2}}},
      .errors = {{.name = "too far",
                  .fn = [](Inputs x) { return take(x[0], x[1]); },
                  .inputs = {uniform({2, 3}, 0, 1), literal({1}, {6}).as(i64)},
                  .error = typeid(ValueError)}},
      .no_zero_size = "gather has them"};
}

const Listed kTakeListed(take_table);

TEST(IndexInPlaceTest, AddsWhatIndexAddGives) {
  const Tensor y = reshape(arange(12), {2, 3, 2});
  const Tensor at = from_values({2, 0, 2}, {3}, i32);
  const Tensor src = reshape(arange(12), {2, 3, 2});
  const auto expected = index_add(y, -2, at, src, 0.5).to_vector();
  const void* data = y.values<float>().data();
  index_add_(y, -2, at, src, 0.5);
  EXPECT_EQ(y.to_vector(), expected);
  EXPECT_EQ(y.at({0, 2, 0}), 4 + 0.5 * (0 + 4));
  EXPECT_EQ(y.values<float>().data(), data);
}

TEST(IndexInPlaceTest, LeavesATensorAsItWasWhereItIsRefused) {
  const Tensor y = zeros({2, 3});
  const Tensor beyond = full({1}, 3, i64);
  EXPECT_THROW(index_add_(y, 1, beyond, ones({2, 1})), ValueError);
  const Tensor good = full({1}, 2, i64);
  EXPECT_THROW(index_add_(y, 1, good, ones({2, 2})), ShapeError);
  EXPECT_THROW(index_add_(y, 1, good, ones({2, 1}, f64)), DTypeError);
  const Tensor w = requires_grad_(zeros({2, 3}));
  EXPECT_THROW(index_add_(w, 1, good, ones({2, 1})), GraphError);
  EXPECT_EQ(y.to_vector(), zeros({2, 3}).to_vector());
}

}  // namespace
}  // namespace neap::testing
