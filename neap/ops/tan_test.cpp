// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/tan.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable tan_table() {
  OpTable table =
      unary_table({.name = "tan",
                   .op = &ops::kTan,
                   .fn = tan,
                   .reference = [](double x) { return std::tan(x); },
                   .domain = uniform({}, -1.2, 1.2)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return tan(x[0]); },
                                 {literal({4}, {0, 1e6, kInf, kNaN})},
                                 {0, std::tan(1e6), kNaN, kNaN}));
  return table;
}

const Listed kListed(tan_table);

}  // namespace
}  // namespace neap::testing
