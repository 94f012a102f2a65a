// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/asinh.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable asinh_table() {
  OpTable table =
      unary_table({.name = "asinh",
                   .op = &ops::kAsinh,
                   .fn = asinh,
                   .reference = [](double x) { return std::asinh(x); },
                   .domain = uniform({}, -3, 3)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return asinh(x[0]); },
                                 {literal({4}, {0, kInf, -kInf, kNaN})},
                                 {0, kInf, -kInf, kNaN}));
  return table;
}

const Listed kListed(asinh_table);

}  // namespace
}  // namespace neap::testing
