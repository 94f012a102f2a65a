// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/maximum.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable maximum_table() {
  OpTable table = binary_table(
      {.name = "maximum",
       .op = &ops::kMaximum,
       .fn = maximum,
       .reference = [](double a, double b) { return std::max(a, b); },
       .a = integers({}, -2, 3),
       .b = {.low = -2.4, .high = 2.4, .avoided = {-2, -1, 0, 1, 2}},
       .takes_integers = true});
  table.rows.push_back(
      kink_row([](Inputs x) { return maximum(x[0], x[1]); },
               {literal({3}, {1, 2, 2}), literal({3}, {3, 2, 1})}, {3, 2, 2},
               {{0, 0.5, 1}, {1, 0.5, 0}}, {1, 1, 1}));
  table.rows.push_back(value_row(
      "nan", [](Inputs x) { return maximum(x[0], x[1]); },
      {literal({2}, {1, kNaN}), literal({2}, {kNaN, 1})}, {kNaN, kNaN}));
  return table;
}

const Listed kListed(maximum_table);

}  // namespace
}  // namespace neap::testing
