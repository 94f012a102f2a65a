// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/embedding.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

Tensor look_up(Inputs x) {
  return embedding(x[0], x[1]);
}

std::vector<double> rows_of(std::span<const HostArray> x) {
  const auto width = static_cast<std::size_t>(x[0].shape[1]);
  std::vector<double> y;
  for (const double id : x[1].values) {
    for (std::size_t c = 0; c < width; ++c) {
      y.push_back(x[0].values[static_cast<std::size_t>(id) * width + c]);
    }
  }
  return y;
}

OpRow row(const char* name, const Shape& weight, const Shape& ids) {
  return {
      .name = name,
      .fn = look_up,
      .inputs = {uniform(weight, -1, 1), integers(ids, 0, weight[0]).as(i64)},
      .reference = rows_of};
}

OpTable embedding_table() {
  OpTable table{.name = "embedding"};
  table.rows = {row("sentences", {5, 3}, {2, 4}), row("one", {5, 3}, {}),
                row("large", {50, 96}, {20, 31})};
  table.rows[0].shape = Shape{2, 4, 3};
  table.rows[0].zero_size = {{{5, 3}, {0, 4}}};
  table.rows[1].inputs[1].dtype = i32;
  table.rows[2].second_derivative = false;
  table.rows.push_back(
      {.name = "padding",
       .fn = [](Inputs x) { return embedding(x[0], x[1], -2); },
       .inputs = {literal({3, 1}, {1, 2, 3}),
                  literal({4}, {0, 1, 0, 2}).as(i64)},
       .expected = {1, 2, 1, 3},
       .expected_vjp = {{2, 0, 1}},
       .expected_jvp = {1, 0, 1, 1},
       .smooth = false});
  table.errors = {
      {.name = "id",
       .fn = look_up,
       .inputs = {uniform({5, 3}, 0, 1), literal({2}, {4, 5}).as(i64)},
       .error = typeid(ValueError),
       .says = "embedding: index 5 at [1], axis 0 has 5 elements"},
      {.name = "padding",
       .fn = [](Inputs x) { return embedding(x[0], x[1], 5); },
       .inputs = {uniform({5, 3}, 0, 1), literal({1}, {0}).as(i64)},
       .error = typeid(ValueError)},
      {.name = "weight",
       .fn = look_up,
       .inputs = {uniform({5}, 0, 1), literal({1}, {0}).as(i64)},
       .error = typeid(ShapeError)}};
  return table;
}

const Listed kEmbeddingListed(embedding_table);

// A row that is constant by decree: differences see it move.
OpTable frozen_row_table() {
  return {.name = "frozen_row",
          .op = &ops::kFrozenRow,
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return ops::frozen_row(x[0], 1); },
                    .inputs = {literal({3, 2}, {1, 2, 3, 4, 5, 6})},
                    .expected = {1, 2, 3, 4, 5, 6},
                    .expected_vjp = {{1, 1, 0, 0, 1, 1}},
                    .expected_jvp = {1, 1, 0, 0, 1, 1},
                    .smooth = false}},
          .no_zero_size = "the row exists"};
}

const Listed kFrozenRowListed(frozen_row_table);

OpTable one_hot_table() {
  OpTable table{.name = "one_hot", .op = &ops::kOneHot};
  table.rows = {{.name = "plain",
                 .fn = [](Inputs x) { return one_hot(x[0], 3); },
                 .inputs = {literal({2, 2}, {0, 2, 1, 1}).as(i64)},
                 .expected = {1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0},
                 .shape = Shape{2, 2, 3},
                 .differentiable = false},
                {.name = "f64, no labels",
                 .fn = [](Inputs x) { return one_hot(x[0], 2, f64); },
                 .inputs = {literal({1}, {1}).as(i64)},
                 .reference =
                     [](std::span<const HostArray> x) {
                       return x[0].values.empty() ? std::vector<double>()
                                                  : std::vector<double>{0, 1};
                     },
                 .zero_size = {{{0}}},
                 .differentiable = false}};
  table.errors = {{.name = "label",
                   .fn = [](Inputs x) { return one_hot(x[0], 3); },
                   .inputs = {literal({2}, {0, 3}).as(i64)},
                   .error = typeid(ValueError)},
                  {.name = "classes",
                   .fn = [](Inputs x) { return one_hot(x[0], -1); },
                   .inputs = {literal({1}, {0}).as(i64)},
                   .error = typeid(ValueError)},
                  {.name = "dtype",
                   .fn = [](Inputs x) { return one_hot(x[0], 3); },
                   .inputs = {uniform({2}, 0, 1)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kOneHotListed(one_hot_table);

}  // namespace
}  // namespace neap::testing
