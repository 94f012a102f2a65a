// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/concat.hpp"

#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

Reference joined(int axis) {
  return [axis](std::span<const HostArray> x) {
    std::int64_t outer = 1;
    for (int a = 0; a < axis; ++a) {
      outer *= x[0].shape[a];
    }
    std::vector<double> y;
    for (std::int64_t row = 0; row < outer; ++row) {
      for (const HostArray& part : x) {
        const auto chunk =
            static_cast<std::int64_t>(part.values.size()) / outer;
        const auto from = part.values.begin() + row * chunk;
        y.insert(y.end(), from, from + chunk);
      }
    }
    return y;
  };
}

OpRow row(const char* name, int axis, const std::vector<Shape>& shapes) {
  OpRow out{.name = name,
            .fn = [axis](Inputs x) { return concat(x, axis); },
            .reference = joined(axis)};
  for (const Shape& shape : shapes) {
    out.inputs.push_back(uniform(shape, -1, 1));
  }
  return out;
}

OpTable concat_table() {
  OpTable table{.name = "concat", .op = &ops::kConcat};
  table.rows = {
      row("rows", 0, {{2, 3}, {1, 3}, {4, 3}}),
      row("columns", 1, {{2, 3}, {2, 1}, {2, 4}}),
      row("middle", 1, {{2, 3, 2}, {2, 1, 2}}),
      row("many", 0,
          {{2}, {1}, {3}, {1}, {2}, {1}, {3}, {1}, {2}, {1}, {3}, {1}}),
      row("large rows", 0, {{201, 131}, {150, 131}}),
      row("large columns", 1, {{301, 100}, {301, 57}, {301, 1}}),
      row("large, narrow columns", 1, {{9001, 1}, {9001, 3}, {9001, 1}}),
      row("whole numbers", 1, {{3, 2}, {3, 1}})};
  table.rows[0].zero_size = {{{0, 3}, {1, 3}, {0, 3}},
                             {{2, 0}, {1, 0}, {4, 0}}};
  for (const std::size_t i : {4U, 5U, 6U}) {
    table.rows[i].second_derivative = false;
  }
  table.rows[7].inputs = {integers({3, 2}, 0, 2), integers({3, 1}, 0, 2)};
  table.rows[7].dtypes = {i32, i64, u8, bf16};
  const auto both = [](Inputs x) { return concat({x[0], x[1]}, -1); };
  table.errors = {{.name = "shapes",
                   .fn = both,
                   .inputs = {uniform({2, 3}, 0, 1), uniform({3, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "ranks",
                   .fn = both,
                   .inputs = {uniform({2, 3}, 0, 1), uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "dtypes",
                   .fn = both,
                   .inputs = {uniform({2}, 0, 1), uniform({2}, 0, 1).as(f64)},
                   .error = typeid(DTypeError)},
                  {.name = "none",
                   .fn = [](Inputs x) { return concat(x.first(0)); },
                   .inputs = {uniform({2}, 0, 1)},
                   .error = typeid(ValueError)}};
  return table;
}

const Listed kConcatListed(concat_table);

OpTable stack_table() {
  const std::vector<InputSpec> two = {literal({2, 2}, {1, 2, 3, 4}),
                                      literal({2, 2}, {5, 6, 7, 8})};
  const auto at = [](std::int64_t axis) {
    return [axis](Inputs x) { return stack(x, axis); };
  };
  return {.name = "stack",
          .rows = {{.name = "first",
                    .fn = at(0),
                    .inputs = two,
                    .expected = {1, 2, 3, 4, 5, 6, 7, 8},
                    .shape = Shape{2, 2, 2}},
                   {.name = "middle",
                    .fn = at(1),
                    .inputs = two,
                    .expected = {1, 2, 5, 6, 3, 4, 7, 8},
                    .shape = Shape{2, 2, 2}},
                   {.name = "last",
                    .fn = at(-1),
                    .inputs = two,
                    .expected = {1, 5, 2, 6, 3, 7, 4, 8},
                    .shape = Shape{2, 2, 2}},
                   {.name = "numbers",
                    .fn = at(0),
                    .inputs = {literal({}, {4}), literal({}, {2})},
                    .expected = {4, 2},
                    .shape = Shape{2}}},
          .errors = {{.name = "shapes",
                      .fn = at(0),
                      .inputs = {uniform({2}, 0, 1), uniform({1}, 0, 1)},
                      .error = typeid(ShapeError)},
                     {.name = "none",
                      .fn = [](Inputs x) { return stack(x.first(0)); },
                      .inputs = {uniform({2}, 0, 1)},
                      .error = typeid(ValueError)}},
          .no_zero_size = "concat has them"};
}

const Listed kStackListed(stack_table);

// More than one call takes, of parts of a few lengths.
TEST(ConcatTest, TakesThousandsOfTensors) {
  constexpr std::size_t kCount = 10000;
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < kCount; ++i) {
    parts.push_back(requires_grad_(
        full({static_cast<std::int64_t>(i % 3)}, static_cast<double>(i))));
  }
  const Tensor y = concat(parts);
  ASSERT_EQ(y.shape(), Shape{9999});
  EXPECT_EQ(y.at({0}), 1);
  EXPECT_EQ(y.at({9998}), 9998);
  backward(sum(y));
  EXPECT_EQ(parts[9998].grad().to_vector().size(), 2U);
  EXPECT_EQ(parts[9998].grad().at({1}), 1);
  for (Tensor& part : parts) {
    set_grad(part, Tensor());
  }
}

}  // namespace
}  // namespace neap::testing
