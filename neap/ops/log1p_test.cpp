// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log1p.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable log1p_table() {
  OpTable table =
      unary_table({.name = "log1p",
                   .op = &ops::kLog1p,
                   .fn = log1p,
                   .reference = [](double x) { return std::log1p(x); },
                   .domain = uniform({}, -0.8, 3)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return log1p(x[0]); },
                                 {literal({6}, {0, 1e-20, -1, kInf, -2, kNaN})},
                                 {0, 1e-20, -kInf, kInf, kNaN, kNaN}));
  return table;
}

const Listed kListed(log1p_table);

}  // namespace
}  // namespace neap::testing
