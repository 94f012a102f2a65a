// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/atan2.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable atan2_table() {
  OpTable table = binary_table(
      {.name = "atan2",
       .op = &ops::kAtan2,
       .fn = atan2,
       .reference = [](double a, double b) { return std::atan2(a, b); },
       .a = {.low = -2.0, .high = 2.0, .avoided = {0.0}, .margin = 0.2},
       .b = {.low = -2.0, .high = 2.0, .avoided = {0.0}, .margin = 0.2}});
  const double pi = std::acos(-1.0);
  table.rows.push_back(value_row("edges",
                                 [](Inputs x) { return atan2(x[0], x[1]); },
                                 {literal({6}, {0, 0, -0.0, kInf, 1, kNaN}),
                                  literal({6}, {0, -1, -1, -kInf, 0, 1})},
                                 {0, pi, -pi, 3 * pi / 4, pi / 2, kNaN}));
  return table;
}

const Listed kListed(atan2_table);

}  // namespace
}  // namespace neap::testing
