// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/cos.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable cos_table() {
  OpTable table =
      unary_table({.name = "cos",
                   .op = &ops::kCos,
                   .fn = cos,
                   .reference = [](double x) { return std::cos(x); },
                   .domain = uniform({}, -6, 6)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return cos(x[0]); },
                                 {literal({4}, {0, 1e6, kInf, kNaN})},
                                 {1, std::cos(1e6), kNaN, kNaN}));
  return table;
}

const Listed kListed(cos_table);

}  // namespace
}  // namespace neap::testing
