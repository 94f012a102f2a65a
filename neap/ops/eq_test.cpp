// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/eq.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable eq_table() {
  OpTable table = binary_table(
      {.name = "eq",
       .op = &ops::kEq,
       .fn = eq,
       .reference = [](double a, double b) { return a == b ? 1.0 : 0.0; },
       .a = integers({}, -2, 3),
       .b = integers({}, -2, 3),
       .takes_integers = true,
       .differentiable = false});
  table.rows.push_back(
      value_row("nan", [](Inputs x) { return eq(x[0], x[1]); },
                {literal({2}, {kNaN, kNaN}), literal({2}, {1, kNaN})}, {0, 0}));
  return table;
}

const Listed kListed(eq_table);

}  // namespace
}  // namespace neap::testing
