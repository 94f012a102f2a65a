// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/acosh.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable acosh_table() {
  OpTable table =
      unary_table({.name = "acosh",
                   .op = &ops::kAcosh,
                   .fn = acosh,
                   .reference = [](double x) { return std::acosh(x); },
                   .domain = uniform({}, 1.2, 4)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return acosh(x[0]); },
                                 {literal({5}, {1, 0.5, -2, kInf, kNaN})},
                                 {0, kNaN, kNaN, kInf, kNaN}));
  return table;
}

const Listed kListed(acosh_table);

}  // namespace
}  // namespace neap::testing
