// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/maximum.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable minimum_table() {
  OpTable table = binary_table(
      {.name = "minimum",
       .op = &ops::kMinimum,
       .fn = minimum,
       .reference = [](double a, double b) { return std::min(a, b); },
       .a = integers({}, -2, 3),
       .b = {.low = -2.4, .high = 2.4, .avoided = {-2, -1, 0, 1, 2}},
       .takes_integers = true});
  table.rows.push_back(
      kink_row([](Inputs x) { return minimum(x[0], x[1]); },
               {literal({3}, {1, 2, 2}), literal({3}, {3, 2, 1})}, {1, 2, 1},
               {{1, 0.5, 0}, {0, 0.5, 1}}, {1, 1, 1}));
  table.rows.push_back(value_row(
      "nan", [](Inputs x) { return minimum(x[0], x[1]); },
      {literal({2}, {1, kNaN}), literal({2}, {kNaN, 1})}, {kNaN, kNaN}));
  return table;
}

const Listed kListed(minimum_table);

}  // namespace
}  // namespace neap::testing
