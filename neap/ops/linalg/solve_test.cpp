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

const Listed kListed(solve_table);

}  // namespace
}  // namespace neap::testing
