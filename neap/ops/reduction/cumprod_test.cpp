// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/cumprod.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// y_i = a_i y_(i-1) + b_i along the middle axis of (a, b, c); a product where
// there is no b, which begins with 1.
Reference along_middle(bool reverse) {
  return [=](std::span<const HostArray> x) {
    const Shape& s = x[0].shape;
    const bool is_product = x.size() == 1;
    std::vector<double> y = x[0].values;
    for (std::int64_t i = 0; i < s[0] * s[2]; ++i) {
      double value = is_product ? 1.0 : 0.0;
      for (std::int64_t j = 0; j < s[1]; ++j) {
        const std::int64_t at = reverse ? s[1] - 1 - j : j;
        const auto place =
            static_cast<std::size_t>((i / s[2] * s[1] + at) * s[2] + i % s[2]);
        value *= x[0].values[place];
        value += is_product ? 0.0 : x[1].values[place];
        y[place] = value;
      }
    }
    return y;
  };
}

OpTable cumprod_table() {
  OpTable table{.name = "cumprod", .op = &ops::kCumprod};
  table.rows = {{.name = "an axis",
                 .fn = [](Inputs x) { return cumprod(x[0], 1); },
                 .inputs = {uniform({2, 3, 4}, -1, 1)},
                 .reference = along_middle(false),
                 .shape = Shape{2, 3, 4},
                 .zero_size = {{{2, 0, 4}}, {{0, 3, 4}}}},
                {.name = "from the end",
                 .fn = [](Inputs x) { return cumprod(x[0], -2, true); },
                 .inputs = {uniform({3, 5, 7}, -1.5, 1.5)},
                 .reference = along_middle(true)},
                {.name = "one row with a zero",
                 .fn = [](Inputs x) { return cumprod(x[0], 0); },
                 .inputs = {literal({4}, {2, 0, 3, 5})},
                 .expected = {2, 0, 0, 0},
                 .expected_vjp = {{1, 2 + 6 + 30, 0, 0}},
                 .expected_jvp = {1, 2, 6, 30}},
                {.name = "two zeros",
                 .fn = [](Inputs x) { return cumprod(x[0], 0); },
                 .inputs = {literal({4}, {2, 0, 0, 5})},
                 .expected = {2, 0, 0, 0},
                 .expected_vjp = {{1, 2, 0, 0}}},
                {.name = "integers",
                 .fn = [](Inputs x) { return cumprod(x[0], 1); },
                 .inputs = {integers({2, 3, 4}, -9, 9)},
                 .reference = along_middle(false),
                 .dtypes = {i32, i64}},
                {.name = "long rows",
                 .fn = [](Inputs x) { return cumprod(x[0], 1); },
                 .inputs = {uniform({5, 301, 23}, 0.9, 1.1)},
                 .reference = along_middle(false),
                 .f32_value = {1e-5, 1e-5},
                 .f32_derivative = {1e-3, 1e-3},
                 .second_derivative = false}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return cumprod(x[0], 2); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

OpTable linear_scan_table() {
  OpTable table{.name = "linear_scan", .op = &ops::kLinearScan};
  table.rows = {
      {.name = "an axis",
       .fn = [](Inputs x) { return linear_scan(x[0], x[1], 1); },
       .inputs = {uniform({2, 3, 4}, -1, 1), uniform({2, 3, 4}, -1, 1)},
       .reference = along_middle(false),
       .shape = Shape{2, 3, 4},
       .zero_size = {{{2, 0, 4}, {2, 0, 4}}, {{0, 3, 4}, {0, 3, 4}}}},
      {.name = "from the end",
       .fn = [](Inputs x) { return linear_scan(x[0], x[1], -2, true); },
       .inputs = {uniform({3, 5, 7}, -1, 1), uniform({3, 5, 7}, -1, 1)},
       .reference = along_middle(true)},
      {.name = "one row",
       .fn = [](Inputs x) { return linear_scan(x[0], x[1], 0); },
       .inputs = {literal({3}, {9, 2, 3}), literal({3}, {1, 1, 1})},
       .expected = {1, 3, 10},
       .expected_vjp = {{0, 4, 3}, {1 + 2 + 6, 1 + 3, 1}}},
      {.name = "long rows",
       .fn = [](Inputs x) { return linear_scan(x[0], x[1], 1); },
       .inputs = {uniform({5, 301, 23}, 0, 0.99), uniform({5, 301, 23}, -1, 1)},
       .reference = along_middle(false),
       .f32_value = {1e-5, 1e-5},
       .f32_derivative = {1e-3, 1e-3},
       .second_derivative = false}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return linear_scan(x[0], x[1], 2); },
                   .inputs = {uniform({2, 3}, 0, 1), uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "shapes",
                   .fn = [](Inputs x) { return linear_scan(x[0], x[1], 1); },
                   .inputs = {uniform({2, 3}, 0, 1), uniform({2, 1}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "integers",
                   .fn = [](Inputs x) { return linear_scan(x[0], x[0], 1); },
                   .inputs = {integers({2, 3}, 0, 5).as(i32)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kCumprodListed(cumprod_table);
const Listed kLinearScanListed(linear_scan_table);

}  // namespace
}  // namespace neap::testing
