// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/erfc.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable erfc_table() {
  OpTable table =
      unary_table({.name = "erfc",
                   .op = &ops::kErfc,
                   .fn = erfc,
                   .reference = [](double x) { return std::erfc(x); },
                   .domain = uniform({}, -3, 3)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return erfc(x[0]); },
                                 {literal({5}, {0, 8, kInf, -kInf, kNaN})},
                                 {1, std::erfc(8.0), 0, 2, kNaN}));
  return table;
}

const Listed kListed(erfc_table);

}  // namespace
}  // namespace neap::testing
