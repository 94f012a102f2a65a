// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log2.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable log2_table() {
  OpTable table =
      unary_table({.name = "log2",
                   .op = &ops::kLog2,
                   .fn = log2,
                   .reference = [](double x) { return std::log2(x); },
                   .domain = positive({})});
  table.rows.push_back(value_row("edges", [](Inputs x) { return log2(x[0]); },
                                 {literal({6}, {1, 8, 0, kInf, -1, kNaN})},
                                 {0, 3, -kInf, kInf, kNaN, kNaN}));
  return table;
}

const Listed kListed(log2_table);

}  // namespace
}  // namespace neap::testing
