// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/matmul.hpp"

#include <algorithm>
#include <numeric>

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

const Listed kMatmulListed(matmul_table);

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

const Listed kMatmulAddListed(matmul_add_table);

std::vector<double> products_added(std::span<const HostArray> x) {
  return {std::inner_product(x[0].values.begin(), x[0].values.end(),
                             x[1].values.begin(), 0.0)};
}

OpTable dot_table() {
  const OpFunction fn = [](Inputs x) { return dot(x[0], x[1]); };
  OpTable table{.name = "dot"};
  table.rows = {{.name = "vectors",
                 .fn = fn,
                 .inputs = {uniform({7}, -1, 1), uniform({7}, -1, 1)},
                 .reference = products_added,
                 .shape = Shape{},
                 .zero_size = {{{0}, {0}}}}};
  table.errors = {
      {.name = "lengths",
       .fn = fn,
       .inputs = {uniform({3}, 0, 1), uniform({1}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "matrices",
       .fn = fn,
       .inputs = {uniform({3, 3}, 0, 1), uniform({3, 3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "integers",
       .fn = fn,
       .inputs = {integers({3}, 0, 5).as(i32), integers({3}, 0, 5).as(i32)},
       .error = typeid(DTypeError),
       .says = "matmul:"}};
  return table;
}

const Listed kDotListed(dot_table);

std::vector<double> products(std::span<const HostArray> x) {
  std::vector<double> out;
  for (const double a : x[0].values) {
    for (const double b : x[1].values) {
      out.push_back(a * b);
    }
  }
  return out;
}

OpTable outer_table() {
  const OpFunction fn = [](Inputs x) { return outer(x[0], x[1]); };
  OpTable table{.name = "outer"};
  table.rows = {{.name = "vectors",
                 .fn = fn,
                 .inputs = {uniform({3}, -1, 1), uniform({5}, -1, 1)},
                 .reference = products,
                 .shape = Shape{3, 5},
                 .zero_size = {{{0}, {5}}, {{3}, {0}}}},
                {.name = "integers",
                 .fn = fn,
                 .inputs = {integers({3}, -5, 5), integers({2}, -5, 5)},
                 .reference = products,
                 .dtypes = {i32, i64},
                 .differentiable = false}};
  table.errors = {{.name = "matrix",
                   .fn = fn,
                   .inputs = {uniform({3, 3}, 0, 1), uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kOuterListed(outer_table);

}  // namespace
}  // namespace neap::testing
