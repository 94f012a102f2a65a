// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/softmax.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Along the last axis.
std::vector<double> probabilities(std::span<const HostArray> x) {
  std::vector<double> y = x[0].values;
  const std::int64_t n = x[0].shape.back();
  for (auto row = y.begin(); row < y.end(); row += n) {
    double sum = 0.0;
    for (auto at = row; at < row + n; ++at) {
      sum += std::exp(*at);
    }
    for (auto at = row; at < row + n; ++at) {
      *at = std::exp(*at) / sum;
    }
  }
  return y;
}

OpTable softmax_table() {
  OpTable table{.name = "softmax", .op = &ops::kSoftmax};
  table.rows = {{.name = "last axis",
                 .fn = [](Inputs x) { return softmax(x[0]); },
                 .inputs = {uniform({2, 3, 5}, -2, 2)},
                 .reference = probabilities,
                 .zero_size = {{{0, 5}}, {{3, 0}}}},
                {.name = "first axis, far apart",
                 .fn = [](Inputs x) { return softmax(x[0], 0); },
                 .inputs = {literal({2, 2}, {3000, -500, 3000, 500})},
                 .expected = {0.5, 0, 0.5, 1},
                 .smooth = false},
                {.name = "long rows",
                 .fn = [](Inputs x) { return softmax(x[0], 1); },
                 .inputs = {uniform({2, 1500}, -2, 2)},
                 .reference = probabilities,
                 .second_derivative = false},
                {.name = "large",
                 .fn = [](Inputs x) { return softmax(x[0], 1); },
                 .inputs = {uniform({301, 97}, -2, 2)},
                 .reference = probabilities,
                 .second_derivative = false}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return softmax(x[0], 2); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "integers",
                   .fn = [](Inputs x) { return softmax(x[0]); },
                   .inputs = {integers({2, 3}, 0, 5).as(i64)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(softmax_table);

}  // namespace
}  // namespace neap::testing
