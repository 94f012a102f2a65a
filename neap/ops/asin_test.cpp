// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/asin.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable asin_table() {
  OpTable table =
      unary_table({.name = "asin",
                   .op = &ops::kAsin,
                   .fn = asin,
                   .reference = [](double x) { return std::asin(x); },
                   .domain = uniform({}, -0.9, 0.9)});
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return asin(x[0]); },
                {literal({4}, {1, -1, 2, kNaN})},
                {std::asin(1.0), -std::asin(1.0), kNaN, kNaN}));
  return table;
}

const Listed kListed(asin_table);

}  // namespace
}  // namespace neap::testing
