// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/exp.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable exp_table() {
  OpTable table =
      unary_table({.name = "exp",
                   .op = &ops::kExp,
                   .fn = exp,
                   .reference = [](double x) { return std::exp(x); },
                   .domain = uniform({}, -2, 2)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return exp(x[0]); },
                                 {literal({4}, {0, -kInf, kInf, kNaN})},
                                 {1, 0, kInf, kNaN}));
  return table;
}

const Listed kListed(exp_table);

}  // namespace
}  // namespace neap::testing
