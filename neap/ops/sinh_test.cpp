// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sinh.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable sinh_table() {
  OpTable table =
      unary_table({.name = "sinh",
                   .op = &ops::kSinh,
                   .fn = sinh,
                   .reference = [](double x) { return std::sinh(x); },
                   .domain = uniform({}, -3, 3)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return sinh(x[0]); },
                                 {literal({4}, {0, kInf, -kInf, kNaN})},
                                 {0, kInf, -kInf, kNaN}));
  return table;
}

const Listed kListed(sinh_table);

}  // namespace
}  // namespace neap::testing
