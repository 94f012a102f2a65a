// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/softsign.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable softsign_table() {
  OpTable table = unary_table(
      {.name = "softsign",
       .fn = softsign,
       .reference = [](double x) { return x / (1.0 + std::abs(x)); },
       .domain = away_from({}, {0.0})});
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return softsign(x[0]); },
                {literal({4}, {-3, 0, 1, kNaN})}, {-0.75, 0, 0.5, kNaN}));
  for (ErrorRow& row : table.errors) {
    row.says = "div:";
  }
  return table;
}

const Listed kListed(softsign_table);

}  // namespace
}  // namespace neap::testing
