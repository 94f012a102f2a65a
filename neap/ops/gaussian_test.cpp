// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/gaussian.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable gaussian_table() {
  OpTable table =
      unary_table({.name = "gaussian",
                   .op = &ops::kGaussian,
                   .fn = gaussian,
                   .reference = [](double x) { return std::exp(-x * x); },
                   .domain = uniform({}, -2, 2)});
  table.rows.push_back(value_row("edges",
                                 [](Inputs x) { return gaussian(x[0]); },
                                 {literal({5}, {0, 9, kInf, -kInf, kNaN})},
                                 {1, std::exp(-81.0), 0, 0, kNaN}));
  return table;
}

const Listed kListed(gaussian_table);

}  // namespace
}  // namespace neap::testing
