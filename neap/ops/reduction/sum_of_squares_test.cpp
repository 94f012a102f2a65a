// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/sum_of_squares.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

std::vector<double> total(std::span<const HostArray> x) {
  double sum = 0.0;
  for (const double value : x[0].values) {
    sum += value * value;
  }
  return {sum};
}

Tensor squares(Inputs x) {
  return sum_of_squares(x[0]);
}

OpTable sum_of_squares_table() {
  OpTable table{.name = "sum_of_squares", .op = &ops::kSumOfSquares};
  table.rows = {{.name = "plain",
                 .fn = squares,
                 .inputs = {uniform({3, 5}, -2, 2)},
                 .reference = total,
                 .shape = Shape{},
                 .zero_size = {{{0, 4}}}},
                {.name = "large",
                 .fn = squares,
                 .inputs = {uniform({263, 301}, -1, 1)},
                 .reference = total,
                 .f32_derivative = {1e-4, 1e-2},
                 .second_derivative = false}};
  table.errors = {{.name = "integers",
                   .fn = squares,
                   .inputs = {integers({3}, 0, 5).as(i32)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(sum_of_squares_table);

}  // namespace
}  // namespace neap::testing
