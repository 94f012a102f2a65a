// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/flip.hpp"

#include <algorithm>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Along every axis at once: the elements backward.
std::vector<double> backward_of(std::span<const HostArray> x) {
  return {x[0].values.rbegin(), x[0].values.rend()};
}

OpTable flip_table() {
  OpTable table{.name = "flip", .op = &ops::kFlip};
  table.rows = {{.name = "every axis",
                 .fn =
                     [](Inputs x) {
                       return flip(x[0], {0, 1});
                     },
                 .inputs = {uniform({3, 5}, -1, 1)},
                 .reference = backward_of,
                 .zero_size = {{{0, 5}}}},
                {.name = "one axis",
                 .fn = [](Inputs x) { return flip(x[0], {-1}); },
                 .inputs = {literal({2, 3}, {1, 2, 3, 4, 5, 6})},
                 .expected = {3, 2, 1, 6, 5, 4}},
                {.name = "no axis",
                 .fn = [](Inputs x) { return flip(x[0], {}); },
                 .inputs = {literal({2}, {1, 2})},
                 .expected = {1, 2}},
                {.name = "large",
                 .fn =
                     [](Inputs x) {
                       return flip(x[0], {0, 1});
                     },
                 .inputs = {uniform({257, 131}, -1, 1)},
                 .reference = backward_of,
                 .second_derivative = false},
                {.name = "whole numbers",
                 .fn =
                     [](Inputs x) {
                       return flip(x[0], {0, 1});
                     },
                 .inputs = {integers({3, 5}, 0, 2)},
                 .reference = backward_of,
                 .dtypes = {i32, i64, u8, bf16}}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return flip(x[0], {1}); },
                   .inputs = {uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "twice",
                   .fn =
                       [](Inputs x) {
                         return flip(x[0], {0, -1});
                       },
                   .inputs = {uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kFlipListed(flip_table);

// Figures of torch.roll.
OpTable roll_table() {
  const InputSpec six = literal({2, 3}, {1, 2, 3, 4, 5, 6});
  return {.name = "roll",
          .rows = {{.name = "forward",
                    .fn = [](Inputs x) { return roll(x[0], 1, 1); },
                    .inputs = {six},
                    .expected = {3, 1, 2, 6, 4, 5}},
                   {.name = "backward, more than once around",
                    .fn = [](Inputs x) { return roll(x[0], -4, -1); },
                    .inputs = {six},
                    .expected = {2, 3, 1, 5, 6, 4}},
                   {.name = "as a line",
                    .fn = [](Inputs x) { return roll(x[0], 2); },
                    .inputs = {six},
                    .expected = {5, 6, 1, 2, 3, 4},
                    .shape = Shape{2, 3}},
                   {.name = "all around",
                    .fn = [](Inputs x) { return roll(x[0], 6, 1); },
                    .inputs = {six},
                    .expected = {1, 2, 3, 4, 5, 6}}},
          .errors = {{.name = "axis",
                      .fn = [](Inputs x) { return roll(x[0], 1, 2); },
                      .inputs = {six},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "concat has them"};
}

const Listed kRollListed(roll_table);

}  // namespace
}  // namespace neap::testing
