// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/round.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable round_table() {
  OpTable table = unary_table(
      {.name = "round",
       .op = &ops::kRound,
       .fn = round,
       .reference = [](double x) { return std::nearbyint(x); },
       .domain = {
           .low = -2.4, .high = 2.4, .avoided = {-1.5, -0.5, 0.5, 1.5}}});
  table.rows.push_back(kink_row([](Inputs x) { return round(x[0]); },
                                {literal({3}, {-1.5, 0.5, 2.5})}, {-2, 0, 2},
                                {{0, 0, 0}}, {0, 0, 0}));
  table.rows.push_back(value_row("edges", [](Inputs x) { return round(x[0]); },
                                 {literal({4}, {1e30, kInf, -kInf, kNaN})},
                                 {1e30, kInf, -kInf, kNaN}));
  return table;
}

const Listed kListed(round_table);

}  // namespace
}  // namespace neap::testing
