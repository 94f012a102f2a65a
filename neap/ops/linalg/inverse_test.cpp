// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/inverse.hpp"

#include "neap/ops/linalg/matrices_test.hpp"

namespace neap::testing {
namespace {

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

Tensor of_regular(Inputs x) {
  return inverse(regular(x[0]));
}

OpTable inverse_table() {
  OpTable table{.name = "inverse", .op = &ops::kInverse};
  table.rows = {{.name = "batched",
                 .fn = of_regular,
                 .inputs = {uniform({2, 3, 3}, -1, 1)},
                 .reference = inverses,
                 .zero_size = {{{0, 3, 3}}, {{2, 0, 0}}}},
                {.name = "rows that must change places",
                 .fn = [](Inputs x) { return inverse(x[0]); },
                 .inputs = {literal({3, 3}, {0, 0, 2, 4, 0, 0, 0, 8, 0})},
                 .expected = {0, 0.25, 0, 0, 0, 0.125, 0.5, 0, 0},
                 .any_layout = false},
                {.name = "large",
                 .fn = of_regular,
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

const Listed kListed(inverse_table);

}  // namespace
}  // namespace neap::testing
