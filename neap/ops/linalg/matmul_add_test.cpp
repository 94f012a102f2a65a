// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/matmul_add.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

Tensor call(Inputs x) {
  return ops::matmul_add(x[0], x[1], x[2]);
}

// (batch, m, k) times (batch, k, n); b may be one matrix for all.
std::vector<double> added(std::span<const HostArray> x) {
  std::vector<double> y = x[0].values;
  const auto m = static_cast<std::size_t>(x[0].shape.back(2));
  const auto n = static_cast<std::size_t>(x[0].shape.back(1));
  const auto k = static_cast<std::size_t>(x[1].shape.back(1));
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t product = x[2].shape.rank() > 2 ? at / (m * n) : 0;
    for (std::size_t i = 0; i < k; ++i) {
      y[at] += x[1].values[at / n * k + i] *
               x[2].values[(product * k + i) * n + at % n];
    }
  }
  return y;
}

OpTable matmul_add_table() {
  OpTable table{.name = "matmul_add", .op = &ops::kMatmulAdd};
  table.rows = {
      {.name = "plain",
       .fn = call,
       .inputs = {uniform({3, 5}, -1, 1), uniform({3, 4}, -1, 1),
                  uniform({4, 5}, -1, 1)},
       .reference = added,
       .zero_size = {{{0, 5}, {0, 4}, {4, 5}}, {{3, 5}, {3, 0}, {0, 5}}}},
      {.name = "batch",
       .fn = call,
       .inputs = {uniform({2, 3, 5}, -1, 1), uniform({2, 3, 4}, -1, 1),
                  uniform({2, 4, 5}, -1, 1)},
       .reference = added},
      {.name = "one matrix for all",
       .fn = call,
       .inputs = {uniform({2, 3, 5}, -1, 1), uniform({2, 3, 4}, -1, 1),
                  uniform({4, 5}, -1, 1)},
       .reference = added},
      {.name = "large",
       .fn = call,
       .inputs = {uniform({130, 70}, -1, 1), uniform({130, 90}, -1, 1),
                  uniform({90, 70}, -1, 1)},
       .reference = added,
       .f32_value = {1e-5, 1e-5},
       .f32_derivative = {1e-4, 1e-4},
       .second_derivative = false}};
  table.errors = {{.name = "another shape",
                   .fn = call,
                   .inputs = {uniform({3, 4}, 0, 1), uniform({3, 4}, 0, 1),
                              uniform({4, 5}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "another dtype",
                   .fn = call,
                   .inputs = {uniform({3, 5}, 0, 1), uniform({3, 4}, 0, 1),
                              uniform({4, 5}, 0, 1).as(f64)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(matmul_add_table);

}  // namespace
}  // namespace neap::testing
