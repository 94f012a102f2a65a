// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log_sigmoid.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable log_sigmoid_table() {
  OpTable table = unary_table(
      {.name = "log_sigmoid",
       .op = &ops::kLogSigmoid,
       .fn = log_sigmoid,
       .reference = [](double x) { return -std::log1p(std::exp(-x)); },
       .domain = uniform({}, -3, 3)});
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return log_sigmoid(x[0]); },
                {literal({5}, {-kInf, -1000, 1000, kInf, kNaN})},
                {-kInf, -1000, 0, 0, kNaN}));
  return table;
}

const Listed kListed(log_sigmoid_table);

}  // namespace
}  // namespace neap::testing
