// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log10.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable log10_table() {
  OpTable table =
      unary_table({.name = "log10",
                   .op = &ops::kLog10,
                   .fn = log10,
                   .reference = [](double x) { return std::log10(x); },
                   .domain = positive({})});
  table.rows.push_back(value_row("edges", [](Inputs x) { return log10(x[0]); },
                                 {literal({6}, {1, 1000, 0, kInf, -1, kNaN})},
                                 {0, 3, -kInf, kInf, kNaN, kNaN}));
  return table;
}

const Listed kListed(log10_table);

}  // namespace
}  // namespace neap::testing
