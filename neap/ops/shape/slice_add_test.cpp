// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/slice_add.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Elements 1 and 3 of 5.
constexpr kernels::SliceAttrs kOdd{
    .axis = 1, .start = 1, .step = 2, .count = 2, .extent = 5};

Tensor add_odd(Inputs x) {
  return ops::slice_add(x[0], x[1], kOdd);
}

std::vector<double> added(std::span<const HostArray> x) {
  std::vector<double> y = x[0].values;
  for (std::size_t i = 0; i < x[1].values.size(); ++i) {
    y[i / 2 * 5 + 1 + i % 2 * 2] += x[1].values[i];
  }
  return y;
}

OpTable slice_add_table() {
  OpTable table{.name = "slice_add", .op = &ops::kSliceAdd};
  table.rows = {
      {.name = "plain",
       .fn = add_odd,
       .inputs = {uniform({3, 5}, -1, 1), uniform({3, 2}, -1, 1)},
       .reference = added,
       .zero_size = {{{0, 5}, {0, 2}}}},
      {.name = "large",
       .fn = add_odd,
       .inputs = {uniform({9001, 5}, -1, 1), uniform({9001, 2}, -1, 1)},
       .reference = added,
       .second_derivative = false},
      {.name = "whole numbers",
       .fn = add_odd,
       .inputs = {integers({3, 5}, -9, 9), integers({3, 2}, -9, 9)},
       .reference = added,
       .dtypes = {i32, i64}}};
  table.errors = {{.name = "shape",
                   .fn = add_odd,
                   .inputs = {uniform({3, 5}, 0, 1), uniform({3, 3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(slice_add_table);

}  // namespace
}  // namespace neap::testing
