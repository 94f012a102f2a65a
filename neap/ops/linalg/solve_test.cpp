// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/solve.hpp"

#include "neap/ops/linalg/matrices_test.hpp"

namespace neap::testing {
namespace {

Tensor of_regular(Inputs x) {
  return solve(regular(x[0]), x[1]);
}

std::vector<double> of_matrices(std::span<const HostArray> x) {
  return solved(regular(x[0]), x[1].values, x[1].shape.back());
}

std::vector<double> of_vectors(std::span<const HostArray> x) {
  return solved(regular(x[0]), x[1].values, 1);
}

OpTable solve_table() {
  OpTable table{.name = "solve", .op = &ops::kSolve};
  table.rows = {
      {.name = "batched",
       .fn = of_regular,
       .inputs = {uniform({2, 4, 4}, -1, 1), uniform({2, 4, 3}, -2, 2)},
       .reference = of_matrices,
       .zero_size = {{{0, 4, 4}, {0, 4, 3}}, {{2, 0, 0}, {2, 0, 3}}}},
      {.name = "broadcast",
       .fn = of_regular,
       .inputs = {uniform({3, 3}, -1, 1), uniform({2, 3, 2}, -2, 2)},
       .reference = of_matrices},
      {.name = "vector",
       .fn = of_regular,
       .inputs = {uniform({4, 4}, -1, 1), uniform({4}, -2, 2)},
       .reference = of_vectors,
       .shape = Shape{4}},
      {.name = "vectors",
       .fn = of_regular,
       .inputs = {uniform({2, 4, 4}, -1, 1), uniform({2, 4}, -2, 2)},
       .reference = of_vectors,
       .shape = Shape{2, 4}},
      {.name = "a vector that looks like a matrix of one column",
       .fn = of_regular,
       .inputs = {uniform({1, 1, 1}, 1, 2), uniform({1}, -2, 2)},
       .reference = of_vectors,
       .shape = Shape{1, 1}},
      {.name = "rows that must change places",
       .fn = [](Inputs x) { return solve(add(x[0], x[0]), x[1]); },
       .inputs = {literal({3, 3}, {0, 0, 2, 1, 0, 0, 0, 0.5, 0}),
                  literal({3, 1}, {4, 6, 8})},
       .expected = {3, 8, 1},
       .any_layout = false},
      {.name = "large",
       .fn = of_regular,
       .inputs = {uniform({45, 45}, -1, 1), uniform({45, 19}, -2, 2)},
       .reference = of_matrices,
       .f32_value = {1e-3, 1e-3},
       .f64_value = {1e-10, 1e-11},
       .f32_derivative = {1e-2, 1e-2},
       .second_derivative = false}};
  table.errors = {
      {.name = "singular",
       .fn = [](Inputs x) { return solve(x[0], x[1]); },
       .inputs = {literal({2, 2}, {1, 2, 2, 4}), uniform({2, 1}, 0, 1)},
       .error = typeid(ValueError),
       .says = "solve: matrix 0 of [] is singular"},
      {.name = "rows",
       .fn = [](Inputs x) { return solve(x[0], x[1]); },
       .inputs = {uniform({3, 3}, 0, 1), uniform({2, 3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "not square",
       .fn = [](Inputs x) { return solve(x[0], x[1]); },
       .inputs = {uniform({3, 2}, 0, 1), uniform({3}, 0, 1)},
       .error = typeid(ShapeError)}};
  return table;
}

const Listed kSolveListed(solve_table);

// The matrix that the options speak of, in full.
HostMatrices triangle_of(const HostArray& x, const TriangleOptions& options) {
  HostMatrices a = regular(x);
  HostMatrices out = a;
  for (std::int64_t m = 0; m < a.count; ++m) {
    for (std::int64_t i = 0; i < a.n; ++i) {
      for (std::int64_t j = 0; j < a.n; ++j) {
        const bool is_kept = options.upper ? j >= i : j <= i;
        const double value =
            i == j && options.unit ? 1.0 : (is_kept ? a.at(m, i, j) : 0.0);
        out.at(m, options.transpose ? j : i, options.transpose ? i : j) = value;
      }
    }
  }
  return out;
}

OpRow row_with(const char* name, const TriangleOptions& options) {
  return {.name = name,
          .fn =
              [options](Inputs x) {
                return triangular_solve(regular(x[0]), x[1], options);
              },
          .inputs = {uniform({2, 4, 4}, -1, 1), uniform({2, 4, 3}, -2, 2)},
          .reference =
              [options](std::span<const HostArray> x) {
                return solved(triangle_of(x[0], options), x[1].values,
                              x[1].shape.back());
              }};
}

OpTable triangular_solve_table() {
  OpTable table{.name = "triangular_solve", .op = &ops::kTriangularSolve};
  table.rows = {
      row_with("lower", {}),
      row_with("upper", {.upper = true}),
      row_with("lower, transposed", {.transpose = true}),
      row_with("upper, transposed", {.upper = true, .transpose = true}),
      row_with("lower, unit", {.unit = true}),
      row_with("upper, transposed, unit",
               {.upper = true, .transpose = true, .unit = true}),
      {.name = "broadcast",
       .fn = [](Inputs x) { return triangular_solve(regular(x[0]), x[1]); },
       .inputs = {uniform({3, 3}, -1, 1), uniform({2, 3, 2}, -2, 2)},
       .reference =
           [](std::span<const HostArray> x) {
             return solved(triangle_of(x[0], {}), x[1].values, 2);
           },
       .zero_size = {{{0, 0}, {2, 0, 2}}, {{3, 3}, {0, 3, 2}}}},
      {.name = "large",
       .fn = [](Inputs x) { return triangular_solve(regular(x[0]), x[1]); },
       .inputs = {uniform({50, 50}, -1, 1), uniform({50, 37}, -2, 2)},
       .reference =
           [](std::span<const HostArray> x) {
             return solved(triangle_of(x[0], {}), x[1].values, 37);
           },
       .f32_value = {1e-4, 1e-4},
       .f64_value = {1e-11, 1e-12},
       .f32_derivative = {1e-3, 1e-3},
       .second_derivative = false}};
  table.errors = {
      {.name = "rows",
       .fn = [](Inputs x) { return triangular_solve(x[0], x[1]); },
       .inputs = {uniform({3, 3}, 0, 1), uniform({2, 3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "vector",
       .fn = [](Inputs x) { return triangular_solve(x[0], x[1]); },
       .inputs = {uniform({3, 3}, 0, 1), uniform({3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "dtypes",
       .fn = [](Inputs x) { return triangular_solve(x[0], x[1]); },
       .inputs = {uniform({3, 3}, 0, 1), uniform({3, 1}, 0, 1).as(f64)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kTriangularSolveListed(triangular_solve_table);

std::vector<double> inverses(std::span<const HostArray> x) {
  HostMatrices a = regular(x[0]);
  HostMatrices y(x[0]);
  for (std::int64_t m = 0; m < a.count; ++m) {
    for (std::int64_t i = 0; i < a.n; ++i) {
      for (std::int64_t j = 0; j < a.n; ++j) {
        y.at(m, i, j) = i == j ? 1.0 : 0.0;
      }
    }
  }
  return solved(a, y.values, a.n);
}

Tensor inverse_of_regular(Inputs x) {
  return inverse(regular(x[0]));
}

OpTable inverse_table() {
  OpTable table{.name = "inverse", .op = &ops::kInverse};
  table.rows = {{.name = "batched",
                 .fn = inverse_of_regular,
                 .inputs = {uniform({2, 3, 3}, -1, 1)},
                 .reference = inverses,
                 .zero_size = {{{0, 3, 3}}, {{2, 0, 0}}}},
                {.name = "rows that must change places",
                 .fn = [](Inputs x) { return inverse(x[0]); },
                 .inputs = {literal({3, 3}, {0, 0, 2, 4, 0, 0, 0, 8, 0})},
                 .expected = {0, 0.25, 0, 0, 0, 0.125, 0.5, 0, 0},
                 .any_layout = false},
                {.name = "large",
                 .fn = inverse_of_regular,
                 .inputs = {uniform({45, 45}, -1, 1)},
                 .reference = inverses,
                 .f32_value = {1e-3, 1e-3},
                 .f64_value = {1e-10, 1e-11},
                 .f32_derivative = {1e-2, 1e-2},
                 .second_derivative = false}};
  table.errors = {{.name = "singular",
                   .fn = [](Inputs x) { return inverse(x[0]); },
                   .inputs = {literal({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 4})},
                   .error = typeid(ValueError),
                   .says = "inverse: matrix 1 of [2] is singular"},
                  {.name = "not square",
                   .fn = [](Inputs x) { return inverse(x[0]); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "vector",
                   .fn = [](Inputs x) { return inverse(x[0]); },
                   .inputs = {uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kInverseListed(inverse_table);

}  // namespace
}  // namespace neap::testing
