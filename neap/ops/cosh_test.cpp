// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/cosh.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable cosh_table() {
  OpTable table =
      unary_table({.name = "cosh",
                   .op = &ops::kCosh,
                   .fn = cosh,
                   .reference = [](double x) { return std::cosh(x); },
                   .domain = uniform({}, -3, 3)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return cosh(x[0]); },
                                 {literal({4}, {0, kInf, -kInf, kNaN})},
                                 {1, kInf, kInf, kNaN}));
  return table;
}

const Listed kListed(cosh_table);

}  // namespace
}  // namespace neap::testing
