// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/scatter.hpp"

#include <gmock/gmock.h>

#include "neap/graph/vertex.hpp"
#include "neap/ops/indexing/indexing_test.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

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

const Listed kScatterListed(scatter_table);

OpFunction scatter_add_along(int axis) {
  return [axis](Inputs x) { return scatter_add(x[0], axis, x[1], x[2]); };
}

OpRow scatter_add_row(const char* name, int axis, const Shape& x,
                      const Shape& index) {
  return {.name = name,
          .fn = scatter_add_along(axis),
          .inputs = {uniform(x, -1, 1), integers(index, 0, x[axis]).as(i64),
                     uniform(index, -1, 1)},
          .reference = scattered(axis, true),
          .f32_value = {1e-5, 1e-4}};
}

OpTable scatter_add_table() {
  OpTable table{.name = "scatter_add", .op = &ops::kScatterAdd};
  table.rows = {
      scatter_add_row("last axis", 1, {3, 5}, {3, 4}),
      scatter_add_row("first axis, repeated", 0, {3, 5}, {7, 5}),
      scatter_add_row("middle axis", 1, {2, 4, 3}, {2, 6, 3}),
      scatter_add_row("shorter index", 1, {3, 4, 5}, {2, 3, 2}),
      scatter_add_row("large", 0, {257, 131}, {301, 131}),
      scatter_add_row("large vector, often the same", 0, {100}, {40000}),
      scatter_add_row("whole numbers", 0, {5, 2}, {9, 2})};
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
       .fn = scatter_add_along(0),
       .inputs = {literal({3}, {1, 2, 3}), literal({2}, {2, 2}).as(i64),
                  literal({4}, {10, 20, 30, 40})},
       .expected = {1, 2, 33}});
  const InputSpec x = uniform({2, 3}, 0, 1);
  const InputSpec index = integers({2, 3}, 0, 2).as(i64);
  table.errors = {
      {.name = "index",
       .fn = scatter_add_along(0),
       .inputs = {x, literal({1, 3}, {0, 2, 1}).as(i64), x},
       .error = typeid(ValueError),
       .says = "scatter_add: index 2 at [0, 1], axis 0 has 2 elements"},
      {.name = "shorter source",
       .fn = scatter_add_along(0),
       .inputs = {x, index, uniform({2, 2}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "dtypes",
       .fn = scatter_add_along(0),
       .inputs = {x, index, uniform({2, 3}, 0, 1).as(f64)},
       .error = typeid(DTypeError)},
      {.name = "bytes",
       .fn = scatter_add_along(0),
       .inputs = {integers({2, 3}, 0, 2).as(u8), index,
                  integers({2, 3}, 0, 2).as(u8)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kScatterAddListed(scatter_add_table);

template <int kOutput>
OpFunction output_along(int axis) {
  return [axis](Inputs x) {
    return std::get<kOutput>(ops::scatter_take(x[0], axis, x[1]));
  };
}

// Goes from the last index to the first.
Reference taken(int axis, bool wants_rest) {
  return [=](std::span<const HostArray> x) {
    std::vector<double> rest = x[0].values;
    std::vector<double> y(x[1].values.size());
    for (std::size_t i = y.size(); i-- > 0;) {
      double& from =
          rest[indexed_place(x[0].shape, x[1].shape, i, axis, x[1].values[i])];
      y[i] = std::exchange(from, 0.0);
    }
    return wants_rest ? rest : y;
  };
}

OpTable scatter_take_table() {
  OpTable table{.name = "scatter_take", .op = &ops::kScatterTake};
  const auto add = [&](const char* name, int axis, const Shape& x,
                       const Shape& index) {
    const std::vector<InputSpec> inputs = {uniform(x, -1, 1),
                                           integers(index, 0, x[axis]).as(i64)};
    table.rows.push_back({.name = std::string(name) + ", rest",
                          .fn = output_along<0>(axis),
                          .inputs = inputs,
                          .reference = taken(axis, true)});
    table.rows.push_back({.name = std::string(name) + ", taken",
                          .fn = output_along<1>(axis),
                          .inputs = inputs,
                          .reference = taken(axis, false)});
  };
  add("last axis", 1, {3, 5}, {3, 4});
  add("first axis", 0, {4, 3}, {7, 3});
  add("shorter index", 1, {3, 4, 5}, {2, 3, 2});
  add("large", 0, {300}, {40000});
  table.rows[0].zero_size = {{{0, 5}, {0, 4}}};
  table.rows[6].second_derivative = false;
  table.rows[7].second_derivative = false;
  table.errors = {
      {.name = "integers",
       .fn = output_along<0>(0),
       .inputs = {integers({3}, 0, 5).as(i32), integers({2}, 0, 3).as(i64)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kScatterTakeListed(scatter_take_table);

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ScatterInPlaceTest, WritesWhatScatterGives) {
  const Tensor x = arange(24);
  const Tensor y = reshape(x, {2, 4, 3});
  const Tensor at =
      expand(reshape(from_values({3.0, 1.0}, {2}, i64), {2, 1, 1}), {2, 1, 3});
  const Tensor src = full({2, 1, 3}, -1.0);
  const auto expected = scatter(y, 1, at, src).to_vector();
  const void* data = y.values<float>().data();
  scatter_(y, 1, at, src);
  EXPECT_EQ(y.to_vector(), expected);
  EXPECT_EQ(y.values<float>().data(), data);
}

TEST(ScatterInPlaceTest, AddsWhatScatterAddGives) {
  const Tensor y = arange(12);
  const Tensor at = from_values({3, 1, 3}, {3}, i64);
  const Tensor src = from_values({0.5, 0.25, 2}, {3});
  const auto expected = scatter_add(y, 0, at, src).to_vector();
  const void* data = y.values<float>().data();
  scatter_add_(y, 0, at, src);
  EXPECT_EQ(y.to_vector(), expected);
  EXPECT_EQ(y.at({3}), 5.5);
  EXPECT_EQ(y.values<float>().data(), data);
  EXPECT_THROW(scatter_add_(y, 0, full({1}, 12, i64), ones({1})), ValueError);
}

TEST(ScatterInPlaceTest, LeavesATensorAsItWasWhereItIsRefused) {
  const Tensor y = zeros({2, 3});
  const Tensor src = ones({2, 1});
  const Tensor beyond = full({2, 1}, 3, i64);
  EXPECT_THAT([&] { scatter_(y, 1, beyond, src); },
              ThrowsMessage<ValueError>(HasSubstr("index 3 at")));
  const Tensor good = full({2, 1}, 2, i64);
  EXPECT_THROW(scatter_(y, 1, good, ones({1, 1})), ShapeError);
  EXPECT_THROW(scatter_(y, 1, good, ones({2, 1}, f64)), DTypeError);
  EXPECT_THROW(scatter_(transpose(zeros({3, 2})), 1, good, src), ShapeError);
  const Tensor w = requires_grad_(zeros({2, 3}));
  EXPECT_THROW(scatter_(w, 1, good, src), GraphError);
  EXPECT_EQ(y.to_vector(), zeros({2, 3}).to_vector());
}

}  // namespace
}  // namespace neap::testing
