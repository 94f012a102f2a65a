// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/activation/swiglu.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

OpTable table() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto fn = [](Inputs x) { return swiglu(x[0], x[1]); };
  const Reference reference = each_pair(
      [](double a, double b) { return a / (1.0 + std::exp(-a)) * b; });
  OpTable table{.name = "swiglu", .op = &ops::kSwiglu};
  table.rows = {
      {.name = "plain",
       .fn = fn,
       .inputs = {uniform({3, 5}, -3, 3), uniform({3, 5}, -2, 2)},
       .reference = reference,
       .zero_size = {{{0, 5}, {0, 5}}}},
      {.name = "broadcast",
       .fn = fn,
       .inputs = {uniform({3, 1}, -3, 3), uniform({2, 1, 4}, -2, 2)},
       .reference = reference},
      {.name = "far from 0",
       .fn = fn,
       .inputs = {literal({3}, {-kInf, -2000, 800}), literal({3}, {1, 3, 2})},
       .expected = {0, 0, 1600},
       .smooth = false}};
  table.rows[2].differentiable = false;
  table.errors = {
      {.name = "shapes",
       .fn = fn,
       .inputs = {uniform({3}, 0, 1), uniform({4}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "integers",
       .fn = fn,
       .inputs = {integers({3}, 0, 5).as(i32), integers({3}, 0, 5).as(i32)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(table);

}  // namespace
}  // namespace neap::testing
