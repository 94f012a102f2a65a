// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/isnan.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable isnan_table() {
  OpTable table =
      unary_table({.name = "isnan",
                   .fn = isnan,
                   .reference = [](double x) { return x != x ? 1.0 : 0.0; },
                   .domain = uniform({}, -2, 2),
                   .differentiable = false});
  table.rows.push_back(value_row("edges", [](Inputs x) { return isnan(x[0]); },
                                 {literal({5}, {0, -1e30, kInf, -kInf, kNaN})},
                                 {0, 0, 0, 0, 1}));
  return table;
}

const Listed kListed(isnan_table);

}  // namespace
}  // namespace neap::testing
