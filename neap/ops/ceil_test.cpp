// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/ceil.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable ceil_table() {
  OpTable table = unary_table(
      {.name = "ceil",
       .op = &ops::kCeil,
       .fn = ceil,
       .reference = [](double x) { return std::ceil(x); },
       .domain = {.low = -2.4, .high = 2.4, .avoided = {-2, -1, 0, 1, 2}}});
  table.rows.push_back(kink_row([](Inputs x) { return ceil(x[0]); },
                                {literal({3}, {-1.5, 1, 2.1})}, {-1, 1, 3},
                                {{0, 0, 0}}, {0, 0, 0}));
  table.rows.push_back(value_row("edges", [](Inputs x) { return ceil(x[0]); },
                                 {literal({4}, {1e30, kInf, -kInf, kNaN})},
                                 {1e30, kInf, -kInf, kNaN}));
  return table;
}

const Listed kListed(ceil_table);

}  // namespace
}  // namespace neap::testing
