// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/cumsum.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Along the middle axis of (a, b, c).
Reference along_middle(bool reverse) {
  return [=](std::span<const HostArray> x) {
    const Shape& s = x[0].shape;
    std::vector<double> y = x[0].values;
    for (std::int64_t i = 0; i < s[0] * s[2]; ++i) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < s[1]; ++j) {
        const std::int64_t at = reverse ? s[1] - 1 - j : j;
        double& value = y[static_cast<std::size_t>(
            (i / s[2] * s[1] + at) * s[2] + i % s[2])];
        sum += value;
        value = sum;
      }
    }
    return y;
  };
}

OpTable cumsum_table() {
  OpTable table{.name = "cumsum", .op = &ops::kCumsum};
  table.rows = {{.name = "an axis",
                 .fn = [](Inputs x) { return cumsum(x[0], 1); },
                 .inputs = {uniform({2, 3, 4}, -1, 1)},
                 .reference = along_middle(false),
                 .shape = Shape{2, 3, 4},
                 .zero_size = {{{2, 0, 4}}, {{0, 3, 4}}}},
                {.name = "from the end",
                 .fn = [](Inputs x) { return cumsum(x[0], -2, true); },
                 .inputs = {uniform({3, 5, 7}, -1, 1)},
                 .reference = along_middle(true)},
                {.name = "one row",
                 .fn = [](Inputs x) { return cumsum(x[0], 0); },
                 .inputs = {literal({4}, {1, 2, -4, 8})},
                 .expected = {1, 3, -1, 7},
                 .expected_vjp = {{4, 3, 2, 1}},
                 .expected_jvp = {1, 2, 3, 4}},
                {.name = "integers",
                 .fn = [](Inputs x) { return cumsum(x[0], 1); },
                 .inputs = {integers({2, 3, 4}, -9, 9)},
                 .reference = along_middle(false),
                 .dtypes = {i32, i64}},
                {.name = "large",
                 .fn = [](Inputs x) { return cumsum(x[0], 1); },
                 .inputs = {uniform({5, 301, 23}, -1, 1)},
                 .reference = along_middle(false),
                 .f32_value = {1e-5, 1e-5},
                 .f32_derivative = {1e-4, 1e-4},
                 .second_derivative = false}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return cumsum(x[0], 2); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(cumsum_table);

}  // namespace
}  // namespace neap::testing
