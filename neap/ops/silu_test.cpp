// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/silu.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable silu_table() {
  OpTable table = unary_table(
      {.name = "silu",
       .op = &ops::kSilu,
       .fn = silu,
       .reference = [](double x) { return x / (1.0 + std::exp(-x)); },
       .domain = uniform({}, -3, 3)});
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return silu(x[0]); },
                {literal({6}, {-kInf, -1000, 0, 1000, kInf, kNaN})},
                {0, 0, 0, 1000, kInf, kNaN}));
  return table;
}

const Listed kListed(silu_table);

}  // namespace
}  // namespace neap::testing
