// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/mean.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

OpTable mean_table() {
  OpTable table{.name = "mean"};
  table.rows = {{.name = "all",
                 .fn = [](Inputs x) { return mean(x[0]); },
                 .inputs = {uniform({3, 5}, -1, 1)},
                 .reference =
                     [](std::span<const HostArray> x) {
                       double sum = 0.0;
                       for (const double value : x[0].values) {
                         sum += value;
                       }
                       return std::vector<double>{sum / 15.0};
                     },
                 .shape = Shape{}},
                {.name = "an axis",
                 .fn = [](Inputs x) { return mean(x[0], {0}, true); },
                 .inputs = {literal({2, 3}, {1, 2, 3, 5, 8, 13})},
                 .expected = {3, 5, 8},
                 .shape = Shape{1, 3}},
                {.name = "of nothing, and nothing",
                 .fn = [](Inputs x) { return mean(x[0], {1}); },
                 .inputs = {uniform({3, 1}, -1, 1)},
                 .reference =
                     [](std::span<const HostArray> x) {
                       return x[0].shape[1] == 1
                                  ? x[0].values
                                  : std::vector<double>(
                                        static_cast<std::size_t>(x[0].shape[0]),
                                        std::nan(""));
                     },
                 .zero_size = {{{0, 4}}}}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return mean(x[0], {3}); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "axis 3 out of range"}};
  return table;
}

const Listed kListed(mean_table);

}  // namespace
}  // namespace neap::testing
