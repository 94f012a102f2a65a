// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/linear.hpp"

#include <algorithm>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// x (m, k), w (n, k), bias (n) or none.
std::vector<double> product(std::span<const HostArray> x) {
  const std::int64_t k = x[1].shape[1];
  const std::int64_t n = x[1].shape[0];
  const std::int64_t m =
      x[0].shape.element_count() / std::max<std::int64_t>(k, 1);
  std::vector<double> y;
  for (std::int64_t i = 0; i < (k == 0 ? x[0].shape[0] : m); ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = x.size() > 2 ? x[2].values[static_cast<std::size_t>(j)] : 0;
      for (std::int64_t l = 0; l < k; ++l) {
        sum += x[0].values[static_cast<std::size_t>(i * k + l)] *
               x[1].values[static_cast<std::size_t>(j * k + l)];
      }
      y.push_back(sum);
    }
  }
  return y;
}

Tensor with_bias(Inputs x) {
  return linear(x[0], x[1], x[2]);
}
Tensor without_bias(Inputs x) {
  return linear(x[0], x[1]);
}

OpTable linear_table() {
  OpTable table{.name = "linear", .op = &ops::kLinear};
  table.rows = {{.name = "with bias",
                 .fn = with_bias,
                 .inputs = {uniform({4, 3}, -1, 1), uniform({5, 3}, -1, 1),
                            uniform({5}, -1, 1)},
                 .reference = product,
                 .shape = Shape{4, 5},
                 .zero_size = {{{0, 3}, {5, 3}, {5}},
                               {{4, 0}, {5, 0}, {5}},
                               {{4, 3}, {0, 3}, {0}}}},
                {.name = "without bias",
                 .fn = without_bias,
                 .inputs = {uniform({4, 3}, -1, 1), uniform({5, 3}, -1, 1)},
                 .reference = product},
                {.name = "leading axes",
                 .fn = with_bias,
                 .inputs = {uniform({2, 3, 4}, -1, 1), uniform({5, 4}, -1, 1),
                            uniform({5}, -1, 1)},
                 .reference = product,
                 .shape = Shape{2, 3, 5}},
                {.name = "a vector",
                 .fn = with_bias,
                 .inputs = {uniform({4}, -1, 1), uniform({5, 4}, -1, 1),
                            uniform({5}, -1, 1)},
                 .reference = product,
                 .shape = Shape{5}},
                {.name = "large",
                 .fn = with_bias,
                 .inputs = {uniform({67, 129}, -1, 1),
                            uniform({101, 129}, -1, 1), uniform({101}, -1, 1)},
                 .reference = product,
                 .f32_value = {1e-5, 1e-4},
                 .f32_derivative = {1e-4, 1e-4},
                 .second_derivative = false}};
  table.errors = {
      {.name = "inner extents",
       .fn = without_bias,
       .inputs = {uniform({2, 3}, 0, 1), uniform({5, 4}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "bias",
       .fn = with_bias,
       .inputs = {uniform({2, 3}, 0, 1), uniform({5, 3}, 0, 1),
                  uniform({3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "rank 0",
       .fn = without_bias,
       .inputs = {uniform({}, 0, 1), uniform({5, 3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "dtypes",
       .fn = without_bias,
       .inputs = {uniform({2, 3}, 0, 1), uniform({5, 3}, 0, 1).as(f64)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(linear_table);

}  // namespace
}  // namespace neap::testing
