// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/mish.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable mish_table() {
  OpTable table = unary_table(
      {.name = "mish",
       .op = &ops::kMish,
       .fn = mish,
       .reference =
           [](double x) { return x * std::tanh(std::log1p(std::exp(x))); },
       .domain = uniform({}, -3, 3)});
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return mish(x[0]); },
                {literal({6}, {-kInf, -1000, 0, 1000, kInf, kNaN})},
                {0, 0, 0, 1000, kInf, kNaN}));
  return table;
}

const Listed kListed(mish_table);

}  // namespace
}  // namespace neap::testing
