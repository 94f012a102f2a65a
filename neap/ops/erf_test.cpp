// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/erf.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable erf_table() {
  OpTable table =
      unary_table({.name = "erf",
                   .op = &ops::kErf,
                   .fn = erf,
                   .reference = [](double x) { return std::erf(x); },
                   .domain = uniform({}, -3, 3)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return erf(x[0]); },
                                 {literal({4}, {0, kInf, -kInf, kNaN})},
                                 {0, 1, -1, kNaN}));
  return table;
}

const Listed kListed(erf_table);

}  // namespace
}  // namespace neap::testing
