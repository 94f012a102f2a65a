// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sin.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable sin_table() {
  OpTable table =
      unary_table({.name = "sin",
                   .op = &ops::kSin,
                   .fn = sin,
                   .reference = [](double x) { return std::sin(x); },
                   .domain = uniform({}, -6, 6)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return sin(x[0]); },
                                 {literal({4}, {0, 1e6, kInf, kNaN})},
                                 {0, std::sin(1e6), kNaN, kNaN}));
  return table;
}

const Listed kListed(sin_table);

}  // namespace
}  // namespace neap::testing
