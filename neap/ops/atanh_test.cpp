// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/atanh.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable atanh_table() {
  OpTable table =
      unary_table({.name = "atanh",
                   .op = &ops::kAtanh,
                   .fn = atanh,
                   .reference = [](double x) { return std::atanh(x); },
                   .domain = uniform({}, -0.9, 0.9)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return atanh(x[0]); },
                                 {literal({5}, {0, 1, -1, 2, kNaN})},
                                 {0, kInf, -kInf, kNaN, kNaN}));
  return table;
}

const Listed kListed(atanh_table);

}  // namespace
}  // namespace neap::testing
