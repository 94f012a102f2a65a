// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/acos.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable acos_table() {
  OpTable table =
      unary_table({.name = "acos",
                   .op = &ops::kAcos,
                   .fn = acos,
                   .reference = [](double x) { return std::acos(x); },
                   .domain = uniform({}, -0.9, 0.9)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return acos(x[0]); },
                                 {literal({4}, {1, -1, 2, kNaN})},
                                 {0, std::acos(-1.0), kNaN, kNaN}));
  return table;
}

const Listed kListed(acos_table);

}  // namespace
}  // namespace neap::testing
