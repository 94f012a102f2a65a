// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/matmul.hpp"

#include <algorithm>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// a (..., m, k) times b (..., k, n), the leading axes of one of them 1 or none.
std::vector<double> product(std::span<const HostArray> x) {
  const Shape& a = x[0].shape;
  const Shape& b = x[1].shape;
  const std::int64_t m = a.back(2);
  const std::int64_t k = a.back(1);
  const std::int64_t n = b.back(1);
  const auto batches = [](const Shape& shape) {
    std::int64_t count = 1;
    for (int axis = 0; axis + 2 < shape.rank(); ++axis) {
      count *= shape[axis];
    }
    return count;
  };
  const std::int64_t batch = std::max(batches(a), batches(b));
  std::vector<double> y;
  for (std::int64_t s = 0; s < batch; ++s) {
    const std::int64_t in_a = batches(a) == 1 ? 0 : s * m * k;
    const std::int64_t in_b = batches(b) == 1 ? 0 : s * k * n;
    for (std::int64_t i = 0; i < m * n; ++i) {
      double sum = 0.0;
      for (std::int64_t l = 0; l < k; ++l) {
        sum += x[0].values[static_cast<std::size_t>(in_a + i / n * k + l)] *
               x[1].values[static_cast<std::size_t>(in_b + l * n + i % n)];
      }
      y.push_back(sum);
    }
  }
  return y;
}

Tensor times(Inputs x) {
  return matmul(x[0], x[1]);
}

OpRow row(const char* name, const Shape& a, const Shape& b,
          const Shape& result) {
  return {.name = name,
          .fn = times,
          .inputs = {uniform(a, -1, 1), uniform(b, -1, 1)},
          .reference = product,
          .shape = result};
}

OpTable matmul_table() {
  OpTable table{.name = "matmul", .op = &ops::kMatmul};
  table.rows = {row("matrices", {3, 4}, {4, 5}, {3, 5}),
                row("batches", {2, 3, 4}, {2, 4, 5}, {2, 3, 5}),
                row("one matrix for all", {2, 3, 4}, {4, 5}, {2, 3, 5}),
                row("broadcast batches", {1, 3, 4}, {6, 4, 2}, {6, 3, 2}),
                row("large", {67, 129}, {129, 101}, {67, 101})};
  table.rows[0].zero_size = {
      {{0, 4}, {4, 5}}, {{3, 0}, {0, 5}}, {{3, 4}, {4, 0}}};
  OpRow& large = table.rows.back();
  large.f32_value = {1e-5, 1e-4};
  large.f32_derivative = {1e-4, 1e-4};
  large.second_derivative = false;
  OpRow vectors{.name = "vectors",
                .fn = times,
                .inputs = {literal({3}, {1, 2, 3}), literal({3}, {4, 5, 6})},
                .expected = {32},
                .shape = Shape{}};
  OpRow column = vectors;
  column.name = "matrix and vector";
  column.inputs = {literal({2, 3}, {1, 2, 3, 4, 5, 6}),
                   literal({3}, {1, 0, -1})};
  column.expected = {-2, -2};
  column.shape = Shape{2};
  OpRow left = vectors;
  left.name = "vector and matrix";
  left.inputs = {literal({2}, {1, -1}), literal({2, 3}, {1, 2, 3, 4, 5, 6})};
  left.expected = {-3, -3, -3};
  left.shape = Shape{3};
  table.rows.insert(table.rows.end(), {vectors, column, left});
  table.errors = {
      {.name = "inner extents",
       .fn = times,
       .inputs = {uniform({2, 3}, 0, 1), uniform({4, 5}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "batches",
       .fn = times,
       .inputs = {uniform({2, 2, 3}, 0, 1), uniform({3, 3, 5}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "rank 0",
       .fn = times,
       .inputs = {uniform({}, 0, 1), uniform({4, 5}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "dtypes",
       .fn = times,
       .inputs = {uniform({2, 3}, 0, 1), uniform({3, 5}, 0, 1).as(f64)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(matmul_table);

}  // namespace
}  // namespace neap::testing
