// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/gelu_linear.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

double gelu_of(double x, GeluForm form) {
  if (form == GeluForm::kExact) {
    return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  }
  const double u =
      std::sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(u));
}

// x (..., k), w (n, k), bias (n) or none.
Reference product(GeluForm form) {
  return [form](std::span<const HostArray> x) {
    const std::int64_t k = x[1].shape[1];
    const std::int64_t n = x[1].shape[0];
    std::int64_t rows = 1;
    for (int axis = 0; axis + 1 < x[0].shape.rank(); ++axis) {
      rows *= x[0].shape[axis];
    }
    std::vector<double> y;
    for (std::int64_t i = 0; i < rows * n; ++i) {
      double sum =
          x.size() > 2 ? x[2].values[static_cast<std::size_t>(i % n)] : 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const auto at = static_cast<std::size_t>(i / n * k + l);
        sum += gelu_of(x[0].values[at], form) *
               x[1].values[static_cast<std::size_t>(i % n * k + l)];
      }
      y.push_back(sum);
    }
    return y;
  };
}

OpTable table() {
  const auto with_bias = [](Inputs x) {
    return gelu_linear(x[0], x[1], x[2], GeluForm::kTanh);
  };
  const auto without_bias = [](Inputs x) { return gelu_linear(x[0], x[1]); };
  OpTable table{.name = "gelu_linear", .op = &ops::kGeluLinear};
  table.rows = {
      {.name = "with bias",
       .fn = with_bias,
       .inputs = {uniform({4, 3}, -2, 2), uniform({5, 3}, -1, 1),
                  uniform({5}, -1, 1)},
       .reference = product(GeluForm::kTanh),
       .zero_size = {{{0, 3}, {5, 3}, {5}},
                     {{4, 0}, {5, 0}, {5}},
                     {{4, 3}, {0, 3}, {0}}}},
      {.name = "without bias",
       .fn = without_bias,
       .inputs = {uniform({2, 3, 4}, -2, 2), uniform({5, 4}, -1, 1)},
       .reference = product(GeluForm::kExact)},
      {.name = "blocks of rows",
       .fn = without_bias,
       .inputs = {uniform({530, 1000}, -2, 2), uniform({2, 1000}, -0.1, 0.1)},
       .reference = product(GeluForm::kExact),
       .dtypes = {f64},
       .differentiable = false}};
  table.errors = {{.name = "widths",
                   .fn = without_bias,
                   .inputs = {uniform({2, 3}, 0, 1), uniform({2, 4}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "bias",
                   .fn = with_bias,
                   .inputs = {uniform({2, 3}, 0, 1), uniform({2, 3}, 0, 1),
                              uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "rank",
                   .fn = without_bias,
                   .inputs = {uniform({}, 0, 1), uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(table);

}  // namespace
}  // namespace neap::testing
