// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/softmax.hpp"

#include <cmath>

#include "neap/ops/norm/softmax_test.hpp"

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

OpTable table() {
  OpTable table =
      softmax_table({.name = "softmax",
                     .op = &ops::kSoftmax,
                     .along_last = [](Inputs x) { return softmax(x[0]); },
                     .along = softmax,
                     .reference = probabilities,
                     .of_columns = {0.5, 0, 0.5, 1}});
  table.rows.push_back({.name = "long rows",
                        .fn = [](Inputs x) { return softmax(x[0], 1); },
                        .inputs = {uniform({2, 1500}, -2, 2)},
                        .reference = probabilities,
                        .second_derivative = false});
  return table;
}

const Listed kListed(table);

}  // namespace
}  // namespace neap::testing
