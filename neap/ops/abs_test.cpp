// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/abs.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable abs_table() {
  OpTable table =
      unary_table({.name = "abs",
                   .op = &ops::kAbs,
                   .fn = abs,
                   .reference = [](double x) { return std::abs(x); },
                   .domain = away_from({}, {0.0}),
                   .takes_integers = true});
  table.rows.push_back(kink_row([](Inputs x) { return abs(x[0]); },
                                {literal({3}, {-1, 0, 2})}, {1, 0, 2},
                                {{-1, 0, 1}}, {-1, 0, 1}));
  table.rows.push_back(value_row("edges", [](Inputs x) { return abs(x[0]); },
                                 {literal({3}, {-kInf, -0.0, kNaN})},
                                 {kInf, 0, kNaN}));
  return table;
}

const Listed kListed(abs_table);

}  // namespace
}  // namespace neap::testing
