// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/where.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

std::vector<double> chosen(std::span<const HostArray> x) {
  std::vector<double> y;
  for (std::size_t i = 0; i < x[0].values.size(); ++i) {
    y.push_back(x[x[0].values[i] != 0.0 ? 1 : 2].values[i]);
  }
  return y;
}

Tensor choose(Inputs x) {
  return where(x[0], x[1], x[2]);
}

OpRow row(const char* name, const Shape& shape) {
  return {.name = name,
          .fn = choose,
          .inputs = {integers(shape, 0, 2).as(boolean), uniform(shape, -1, 1),
                     uniform(shape, -1, 1)},
          .reference = chosen};
}

OpTable where_table() {
  OpTable table{.name = "where", .op = &ops::kWhere};
  table.rows = {row("equal shapes", {3, 5}), row("large", {131, 263}),
                row("integers", {3, 5})};
  table.rows[0].zero_size = {{{0, 4}, {0, 4}, {0, 4}}};
  table.rows[1].second_derivative = false;
  table.rows[2].inputs[1] = integers({3, 5}, -9, 9);
  table.rows[2].inputs[2] = integers({3, 5}, -9, 9);
  table.rows[2].dtypes = {i32, i64};
  table.rows.push_back({.name = "broadcast",
                        .fn = choose,
                        .inputs = {literal({2, 1}, {1, 0}).as(boolean),
                                   literal({3}, {1, 2, 3}), literal({}, {9})},
                        .expected = {1, 2, 3, 9, 9, 9},
                        .shape = Shape{2, 3}});
  table.rows.push_back(
      {.name = "a number",
       .fn = [](Inputs x) { return where(x[0], x[1], 0.5); },
       .inputs = {literal({3}, {1, 0, 1}).as(boolean), literal({3}, {1, 2, 3})},
       .expected = {1, 0.5, 3}});
  table.errors = {
      {.name = "condition",
       .fn = choose,
       .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1), uniform({3}, 0, 1)},
       .error = typeid(DTypeError)},
      {.name = "shapes",
       .fn = choose,
       .inputs = {literal({2}, {1, 0}).as(boolean), uniform({3}, 0, 1),
                  uniform({3}, 0, 1)},
       .error = typeid(ShapeError)}};
  return table;
}

const Listed kWhereListed(where_table);

OpTable masked_fill_table() {
  return {.name = "masked_fill",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return masked_fill(x[0], x[1], 0.5); },
                    .inputs = {literal({2, 2}, {1, 2, 3, 4}),
                               literal({2}, {0, 1}).as(boolean)},
                    .expected = {1, 0.5, 3, 0.5}}},
          .errors = {{.name = "mask",
                      .fn = [](Inputs x) { return masked_fill(x[0], x[1], 0); },
                      .inputs = {uniform({2}, 0, 1), uniform({2}, 0, 1)},
                      .error = typeid(DTypeError),
                      .says = "where:"}},
          .no_zero_size = "where has them"};
}

const Listed kMaskedFillListed(masked_fill_table);

}  // namespace
}  // namespace neap::testing
