// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/prod.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// The product of a (a, b, c) over its middle axis.
std::vector<double> over_middle(std::span<const HostArray> x) {
  const Shape& shape = x[0].shape;
  std::vector<double> y(static_cast<std::size_t>(shape[0] * shape[2]), 1.0);
  for (std::size_t i = 0; i < x[0].values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t outer = at / (shape[1] * shape[2]);
    y[static_cast<std::size_t>(outer * shape[2] + at % shape[2])] *=
        x[0].values[i];
  }
  return y;
}

std::vector<double> whole(std::span<const HostArray> x) {
  double product = 1.0;
  for (const double value : x[0].values) {
    product *= value;
  }
  return {product};
}

OpTable prod_table() {
  OpTable table{.name = "prod", .op = &ops::kProd};
  table.rows = {
      {.name = "all",
       .fn = [](Inputs x) { return prod(x[0]); },
       .inputs = {uniform({3, 5}, 0.5, 1.5)},
       .reference = whole,
       .shape = Shape{},
       .zero_size = {{{0, 4}}, {{0}}}},
      {.name = "an axis",
       .fn = [](Inputs x) { return prod(x[0], {1}); },
       .inputs = {uniform({2, 3, 4}, -1.5, 1.5)},
       .reference = over_middle,
       .shape = Shape{2, 4},
       .zero_size = {{{2, 0, 4}}, {{0, 3, 4}}}},
      {.name = "kept, from the end, one element",
       .fn = [](Inputs x) { return prod(x[0], {-2}, true); },
       .inputs = {uniform({2, 1, 4}, -1.5, 1.5)},
       .reference = over_middle,
       .shape = Shape{2, 1, 4}},
      {.name = "two axes, zeros, differences",
       .fn =
           [](Inputs x) {
             return prod(x[0], {0, 2});
           },
       .inputs = {literal({2, 3, 2}, {1, 2, 0, 4, 0, 0, 7, 8, 9, 2, 3, 1})},
       .expected = {112, 0, 0},
       .shape = Shape{3}},
      // none zero; one zero: it alone moves; two: none does
      {.name = "zeros",
       .fn = [](Inputs x) { return prod(x[0], {1}); },
       .inputs = {literal({3, 3}, {2, 3, 4, 2, 0, 4, 0, 0, 4})},
       .expected = {24, 0, 0},
       .expected_vjp = {{12, 8, 6, 0, 8, 0, 0, 0, 0}},
       .expected_jvp = {26, 8, 0}},
      {.name = "integers",
       .fn = [](Inputs x) { return prod(x[0], {1}); },
       .inputs = {integers({2, 3, 4}, -9, 9)},
       .reference = over_middle,
       .dtypes = {i32, i64}},
      {.name = "large",
       .fn = [](Inputs x) { return prod(x[0], {1}); },
       .inputs = {uniform({3, 301, 5}, 0.9, 1.1)},
       .reference = over_middle,
       .f32_value = {1e-4, 1e-4},
       .f32_derivative = {1e-4, 1e-4},
       .second_derivative = false}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return prod(x[0], {2}); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(prod_table);

}  // namespace
}  // namespace neap::testing
