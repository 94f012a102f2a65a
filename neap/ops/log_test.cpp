// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable log_table() {
  OpTable table =
      unary_table({.name = "log",
                   .op = &ops::kLog,
                   .fn = log,
                   .reference = [](double x) { return std::log(x); },
                   .domain = positive({})});
  table.rows.push_back(value_row("edges", [](Inputs x) { return log(x[0]); },
                                 {literal({5}, {1, 0, kInf, -1, kNaN})},
                                 {0, -kInf, kInf, kNaN, kNaN}));
  return table;
}

const Listed kListed(log_table);

}  // namespace
}  // namespace neap::testing
