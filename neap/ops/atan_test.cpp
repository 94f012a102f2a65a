// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/atan.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable atan_table() {
  OpTable table =
      unary_table({.name = "atan",
                   .op = &ops::kAtan,
                   .fn = atan,
                   .reference = [](double x) { return std::atan(x); },
                   .domain = uniform({}, -3, 3)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return atan(x[0]); },
                                 {literal({4}, {0, kInf, -kInf, kNaN})},
                                 {0, std::asin(1.0), -std::asin(1.0), kNaN}));
  return table;
}

const Listed kListed(atan_table);

}  // namespace
}  // namespace neap::testing
