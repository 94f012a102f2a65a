// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/trunc.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable trunc_table() {
  OpTable table = unary_table(
      {.name = "trunc",
       .op = &ops::kTrunc,
       .fn = trunc,
       .reference = [](double x) { return std::trunc(x); },
       .domain = {.low = -2.4, .high = 2.4, .avoided = {-2, -1, 0, 1, 2}}});
  table.rows.push_back(kink_row([](Inputs x) { return trunc(x[0]); },
                                {literal({3}, {-1.5, 1, 2.9})}, {-1, 1, 2},
                                {{0, 0, 0}}, {0, 0, 0}));
  table.rows.push_back(value_row("edges", [](Inputs x) { return trunc(x[0]); },
                                 {literal({4}, {1e30, kInf, -kInf, kNaN})},
                                 {1e30, kInf, -kInf, kNaN}));
  return table;
}

const Listed kListed(trunc_table);

}  // namespace
}  // namespace neap::testing
