// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/triangular_solve.hpp"

#include "neap/ops/linalg/matrices_test.hpp"

namespace neap::testing {
namespace {

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

const Listed kListed(triangular_solve_table);

}  // namespace
}  // namespace neap::testing
