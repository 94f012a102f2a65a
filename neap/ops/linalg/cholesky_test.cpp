// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/cholesky.hpp"

#include "neap/ops/linalg/matrices_test.hpp"

namespace neap::testing {
namespace {

std::vector<double> factors(std::span<const HostArray> x) {
  HostMatrices a = positive_definite(x[0]);
  HostMatrices l(x[0]);
  for (std::int64_t m = 0; m < a.count; ++m) {
    for (std::int64_t i = 0; i < a.n; ++i) {
      for (std::int64_t j = 0; j < a.n; ++j) {
        double sum = a.at(m, i, j);
        for (std::int64_t k = 0; k < j && j <= i; ++k) {
          sum -= l.at(m, i, k) * l.at(m, j, k);
        }
        l.at(m, i, j) = j > i    ? 0.0
                        : j == i ? std::sqrt(sum)
                                 : sum / l.at(m, j, j);
      }
    }
  }
  return l.values;
}

Tensor of_positive_definite(Inputs x) {
  return cholesky(positive_definite(x[0]));
}

OpTable cholesky_table() {
  OpTable table{.name = "cholesky", .op = &ops::kCholesky};
  table.rows = {{.name = "batched",
                 .fn = of_positive_definite,
                 .inputs = {uniform({2, 3, 4, 4}, -1, 1)},
                 .reference = factors,
                 .zero_size = {{{0, 3, 3}}, {{2, 0, 0}}}},
                {.name = "one by one",
                 .fn = of_positive_definite,
                 .inputs = {uniform({1, 1}, -1, 1)},
                 .reference = factors},
                {.name = "symmetric part",
                 .fn = [](Inputs x) { return cholesky(x[0]); },
                 .inputs = {literal({2, 2}, {4, 1, 3, 5})},
                 .expected = {2, 0, 1, 2},
                 .any_layout = false},
                {.name = "large",
                 .fn = of_positive_definite,
                 .inputs = {uniform({70, 70}, -1, 1)},
                 .reference = factors,
                 .f32_value = {1e-4, 1e-4},
                 .f64_value = {1e-11, 1e-12},
                 .f32_derivative = {1e-3, 1e-3},
                 .second_derivative = false}};
  table.errors = {
      {.name = "not positive definite",
       .fn = [](Inputs x) { return cholesky(x[0]); },
       .inputs = {literal({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 1})},
       .error = typeid(ValueError),
       .says = "cholesky: matrix 1 of [2] is not positive definite"},
      {.name = "not a number",
       .fn = [](Inputs x) { return cholesky(x[0]); },
       .inputs = {literal({2, 2}, {1, NAN, 0, 1})},
       .error = typeid(ValueError)},
      {.name = "not square",
       .fn = [](Inputs x) { return cholesky(x[0]); },
       .inputs = {uniform({2, 3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "integers",
       .fn = [](Inputs x) { return cholesky(x[0]); },
       .inputs = {integers({2, 2}, 0, 3).as(i32)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(cholesky_table);

}  // namespace
}  // namespace neap::testing
