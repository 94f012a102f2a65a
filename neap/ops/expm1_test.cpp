// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/expm1.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable expm1_table() {
  OpTable table =
      unary_table({.name = "expm1",
                   .op = &ops::kExpm1,
                   .fn = expm1,
                   .reference = [](double x) { return std::expm1(x); },
                   .domain = uniform({}, -2, 2)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return expm1(x[0]); },
                                 {literal({5}, {0, 1e-20, kInf, -kInf, kNaN})},
                                 {0, 1e-20, kInf, -1, kNaN}));
  return table;
}

const Listed kListed(expm1_table);

}  // namespace
}  // namespace neap::testing
