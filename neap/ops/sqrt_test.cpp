// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sqrt.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable sqrt_table() {
  OpTable table =
      unary_table({.name = "sqrt",
                   .op = &ops::kSqrt,
                   .fn = sqrt,
                   .reference = [](double x) { return std::sqrt(x); },
                   .domain = positive({})});
  table.rows.push_back(value_row("edges", [](Inputs x) { return sqrt(x[0]); },
                                 {literal({4}, {0, 4, kInf, -1})},
                                 {0, 2, kInf, kNaN}));
  return table;
}

const Listed kListed(sqrt_table);

}  // namespace
}  // namespace neap::testing
