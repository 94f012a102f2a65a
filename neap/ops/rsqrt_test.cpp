// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/rsqrt.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable rsqrt_table() {
  OpTable table =
      unary_table({.name = "rsqrt",
                   .op = &ops::kRsqrt,
                   .fn = rsqrt,
                   .reference = [](double x) { return 1.0 / std::sqrt(x); },
                   .domain = positive({})});
  table.rows.push_back(value_row("edges", [](Inputs x) { return rsqrt(x[0]); },
                                 {literal({5}, {4, 0, kInf, -1, kNaN})},
                                 {0.5, kInf, 0, kNaN, kNaN}));
  return table;
}

const Listed kListed(rsqrt_table);

}  // namespace
}  // namespace neap::testing
