// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reciprocal.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();

OpTable reciprocal_table() {
  OpTable table = unary_table({.name = "reciprocal",
                               .op = &ops::kReciprocal,
                               .fn = reciprocal,
                               .reference = [](double x) { return 1.0 / x; },
                               .domain = positive({})});
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return reciprocal(x[0]); },
                {literal({3}, {0, kInf, -4})}, {kInf, 0, -0.25}));
  return table;
}

const Listed kListed(reciprocal_table);

}  // namespace
}  // namespace neap::testing
