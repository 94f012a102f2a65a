// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/fmod.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpTable fmod_table() {
  OpTable table = binary_table(
      {.name = "fmod",
       .op = &ops::kFmod,
       .fn = fmod,
       .reference = [](double a, double b) { return std::fmod(a, b); },
       .a = uniform({}, 5.1, 5.6),
       .b = uniform({}, 2.0, 2.5)});
  table.rows.push_back(value_row("signs and edges",
                                 [](Inputs x) { return fmod(x[0], x[1]); },
                                 {literal({8}, {7, -7, 7, -7, 1, kInf, 3, 4}),
                                  literal({8}, {2, 2, -2, -2, 0, 1, kInf, 2})},
                                 {1, -1, 1, -1, kNaN, kNaN, 3, 0}));
  return table;
}

const Listed kListed(fmod_table);

}  // namespace
}  // namespace neap::testing
