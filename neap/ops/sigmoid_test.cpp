// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sigmoid.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();

OpTable sigmoid_table() {
  OpTable table = unary_table(
      {.name = "sigmoid",
       .op = &ops::kSigmoid,
       .fn = sigmoid,
       .reference = [](double x) { return 1.0 / (1.0 + std::exp(-x)); },
       .domain = uniform({}, -3, 3)});
  table.rows.push_back(value_row(
      "edges", [](Inputs x) { return sigmoid(x[0]); },
      {literal({5}, {0, -1000, 1000, -kInf, kInf})}, {0.5, 0, 1, 0, 1}));
  return table;
}

const Listed kListed(sigmoid_table);

}  // namespace
}  // namespace neap::testing
