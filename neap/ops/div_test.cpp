// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/div.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable div_table() {
  OpTable table =
      binary_table({.name = "div",
                    .op = &ops::kDiv,
                    .fn = div,
                    .reference = [](double a, double b) { return a / b; },
                    .a = uniform({}, -2, 2),
                    .b = positive({})});
  table.rows.push_back(value_row(
      "edges", [](Inputs x) { return div(x[0], x[1]); },
      {literal({3}, {1, 0, -1}), literal({3}, {0, 0, kInf})}, {kInf, kNaN, 0}));
  return table;
}

const Listed kListed(div_table);

}  // namespace
}  // namespace neap::testing
