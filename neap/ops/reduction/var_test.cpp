// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/var.hpp"

#include <cmath>

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Over the middle axis of (a, b, c), which is divided by b - correction.
Reference over_middle(double correction, bool is_std) {
  return [=](std::span<const HostArray> x) {
    const Shape& s = x[0].shape;
    std::vector<double> y;
    for (std::int64_t i = 0; i < s[0] * s[2]; ++i) {
      const auto at = [&](std::int64_t j) {
        return x[0].values[static_cast<std::size_t>(
            (i / s[2] * s[1] + j) * s[2] + i % s[2])];
      };
      double mean = 0.0;
      for (std::int64_t j = 0; j < s[1]; ++j) {
        mean += at(j) / static_cast<double>(s[1]);
      }
      double squares = s[1] == 0 ? std::nan("") : 0.0;
      for (std::int64_t j = 0; j < s[1]; ++j) {
        squares += (at(j) - mean) * (at(j) - mean);
      }
      const double var =
          squares / std::max(0.0, static_cast<double>(s[1]) - correction);
      y.push_back(is_std ? std::sqrt(var) : var);
    }
    return y;
  };
}

// Numbers far from 0 beside their spread: sums of squares would lose it.
InputSpec far_away(const Shape& shape) {
  return uniform(shape, 1000.0, 1001.0);
}

using Call = Tensor (*)(const TensorOperand&, const Shape&, bool, double);

OpTable table_of(const std::string& name, const graph::Op* op, Call call,
                 bool is_std) {
  OpTable table{.name = name, .op = op};
  table.rows = {{.name = "an axis",
                 .fn = [=](Inputs x) { return call(x[0], {1}, false, 1.0); },
                 .inputs = {uniform({2, 5, 3}, -1, 1)},
                 .reference = over_middle(1.0, is_std),
                 .shape = Shape{2, 3},
                 .zero_size = {{{0, 5, 3}}}},
                {.name = "kept, from the end, no correction",
                 .fn = [=](Inputs x) { return call(x[0], {-2}, true, 0.0); },
                 .inputs = {uniform({2, 4, 1}, -1, 1)},
                 .reference = over_middle(0.0, is_std),
                 .shape = Shape{2, 1, 1}},
                {.name = "two axes",
                 .fn =
                     [=](Inputs x) {
                       return call(x[0], {0, 2}, false, 1.0);
                     },
                 .inputs = {literal({2, 1, 2}, {1, 2, 3, 6})},
                 .expected = {is_std ? std::sqrt(14.0 / 3) : 14.0 / 3},
                 .f32_value = {1e-6, 0},
                 .f64_value = {1e-15, 0}},
                {.name = "large, by columns",
                 .fn = [=](Inputs x) { return call(x[0], {1}, false, 1.0); },
                 .inputs = {far_away({3, 301, 67})},
                 .reference = over_middle(1.0, is_std),
                 .f32_value = {1e-3, 0},
                 .f64_value = {1e-10, 0},
                 .f32_derivative = {1e-2, 1e-3},
                 .difference = 1e-6,
                 .second_derivative = false},
                {.name = "large, by rows",
                 .fn = [=](Inputs x) { return call(x[0], {1}, false, 1.0); },
                 .inputs = {far_away({3, 2500, 1})},
                 .reference = over_middle(1.0, is_std),
                 .f32_value = {1e-3, 0},
                 .f64_value = {1e-10, 0},
                 .f32_derivative = {1e-2, 1e-3},
                 .difference = 1e-6,
                 .second_derivative = false},
                {.name = "one element, none",
                 .fn = [=](Inputs x) { return call(x[0], {1}, false, 1.0); },
                 .inputs = {uniform({2, 1, 2}, -1, 1)},
                 .reference = over_middle(1.0, is_std),
                 .differentiable = false}};
  table.errors = {{.name = "axis",
                   .fn = [=](Inputs x) { return call(x[0], {2}, false, 1.0); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "integers",
                   .fn = [=](Inputs x) { return call(x[0], {1}, false, 1.0); },
                   .inputs = {integers({2, 3}, 0, 9).as(i32)},
                   .error = typeid(DTypeError)}};
  return table;
}

OpTable var_table() {
  OpTable table = table_of("var", &ops::kVar, var, false);
  table.rows.push_back({.name = "all",
                        .fn = [](Inputs x) { return var(x[0]); },
                        .inputs = {literal({2, 2}, {1, 2, 3, 6})},
                        .expected = {14.0 / 3},
                        .shape = Shape{},
                        .f32_value = {1e-6, 0},
                        .f64_value = {1e-15, 0}});
  // Cotangents of both outputs at once.
  table.rows.push_back({.name = "with the mean",
                        .fn =
                            [](Inputs x) {
                              const VarMean y = var_mean(x[0], {0, 2});
                              return add(mul(y.var, 3.0), y.mean);
                            },
                        .inputs = {literal({2, 1, 2}, {1, 2, 3, 6})},
                        .expected = {17},
                        .f32_value = {1e-6, 0},
                        .f64_value = {1e-15, 0}});
  return table;
}

OpTable std_table() {
  OpTable table = table_of("std", &ops::kStd, std, true);
  table.rows.push_back({.name = "all",
                        .fn = [](Inputs x) { return std(x[0]); },
                        .inputs = {literal({2, 2}, {1, 3, 5, 3})},
                        .expected = {std::sqrt(8.0 / 3)},
                        .shape = Shape{},
                        .f32_value = {1e-6, 0},
                        .f64_value = {1e-15, 0}});
  table.rows.push_back({.name = "no spread",
                        .fn = [](Inputs x) { return std(x[0], {1}); },
                        .inputs = {literal({2, 3}, {2, 2, 2, 0, 1, 2})},
                        .expected = {0, 1},
                        .expected_vjp = {{0, 0, 0, -0.5, 0, 0.5}},
                        .expected_jvp = {0, 0},
                        .smooth = false});
  return table;
}

const Listed kVar(var_table);
const Listed kStd(std_table);

}  // namespace
}  // namespace neap::testing
