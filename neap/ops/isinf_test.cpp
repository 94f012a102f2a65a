// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/isinf.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable isinf_table() {
  OpTable table = unary_table(
      {.name = "isinf",
       .fn = isinf,
       .reference = [](double x) { return std::abs(x) == kInf ? 1.0 : 0.0; },
       .domain = uniform({}, -2, 2),
       .differentiable = false});
  table.rows.push_back(value_row("edges", [](Inputs x) { return isinf(x[0]); },
                                 {literal({5}, {0, -1e30, kInf, -kInf, kNaN})},
                                 {0, 0, 1, 1, 0}));
  return table;
}

const Listed kListed(isinf_table);

}  // namespace
}  // namespace neap::testing
