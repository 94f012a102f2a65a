// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/one_hot.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

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

const Listed kListed(one_hot_table);

}  // namespace
}  // namespace neap::testing
