// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/tanh.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();

OpTable tanh_table() {
  OpTable table =
      unary_table({.name = "tanh",
                   .op = &ops::kTanh,
                   .fn = tanh,
                   .reference = [](double x) { return std::tanh(x); },
                   .domain = uniform({}, -2, 2)});
  table.rows.push_back(value_row("edges", [](Inputs x) { return tanh(x[0]); },
                                 {literal({5}, {0, -1000, 1000, -kInf, kInf})},
                                 {0, -1, 1, -1, 1}));
  return table;
}

const Listed kListed(tanh_table);

}  // namespace
}  // namespace neap::testing
