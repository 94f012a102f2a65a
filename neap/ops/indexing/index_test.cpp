// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/index.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

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

}  // namespace
}  // namespace neap::testing
