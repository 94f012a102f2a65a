// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/slice.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

OpTable slice_table() {
  OpTable table{.name = "slice", .op = &ops::kSlice};
  const InputSpec six = literal({6}, {0, 1, 2, 3, 4, 5});
  table.rows = {
      {.name = "a range",
       .fn = [](Inputs x) { return slice(x[0], 0, 1, 4); },
       .inputs = {six},
       .expected = {1, 2, 3}},
      {.name = "steps",
       .fn = [](Inputs x) { return slice(x[0], 0, 1, kEnd, 2); },
       .inputs = {six},
       .expected = {1, 3, 5}},
      {.name = "steps that do not divide",
       .fn = [](Inputs x) { return slice(x[0], 0, 0, kEnd, 4); },
       .inputs = {six},
       .expected = {0, 4}},
      {.name = "from the end",
       .fn = [](Inputs x) { return slice(x[0], -1, -2); },
       .inputs = {six},
       .expected = {4, 5}},
      {.name = "another axis",
       .fn = [](Inputs x) { return slice(x[0], 1, 1, 3); },
       .inputs = {uniform({2, 4, 3}, -1, 1)},
       .reference =
           [](std::span<const HostArray> x) {
             std::vector<double> y;
             for (std::size_t i = 0; i < x[0].values.size(); ++i) {
               if (i / 3 % 4 == 1 || i / 3 % 4 == 2) {
                 y.push_back(x[0].values[i]);
               }
             }
             return y;
           },
       .shape = Shape{2, 2, 3},
       .zero_size = {{{0, 4, 3}}}},
      {.name = "nothing",
       .fn = [](Inputs x) { return slice(x[0], 0, 4, 2); },
       .inputs = {six},
       .reference =
           [](std::span<const HostArray>) { return std::vector<double>(); },
       .shape = Shape{0}}};
  table.errors = {{.name = "step",
                   .fn = [](Inputs x) { return slice(x[0], 0, 0, kEnd, 0); },
                   .inputs = {six},
                   .error = typeid(ValueError)},
                  {.name = "axis",
                   .fn = [](Inputs x) { return slice(x[0], 1, 0); },
                   .inputs = {six},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kSliceListed(slice_table);

// Elements 1 and 3 of 5.
constexpr kernels::SliceAttrs kOdd{
    .axis = 1, .start = 1, .step = 2, .count = 2, .extent = 5};

std::vector<double> put(std::span<const HostArray> x) {
  std::vector<double> y(static_cast<std::size_t>(x[0].shape[0]) * 5, 0.0);
  for (std::size_t i = 0; i < x[0].values.size(); ++i) {
    y[i / 2 * 5 + 1 + i % 2 * 2] = x[0].values[i];
  }
  return y;
}

OpTable slice_put_table() {
  return {.name = "slice_put",
          .op = &ops::kSlicePut,
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return ops::slice_put(x[0], kOdd); },
                    .inputs = {uniform({3, 2}, -1, 1)},
                    .reference = put,
                    .shape = Shape{3, 5},
                    .zero_size = {{{0, 2}}}},
                   {.name = "large",
                    .fn = [](Inputs x) { return ops::slice_put(x[0], kOdd); },
                    .inputs = {uniform({9001, 2}, -1, 1)},
                    .reference = put,
                    .second_derivative = false}}};
}

const Listed kSlicePutListed(slice_put_table);

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

const Listed kSliceAddListed(slice_add_table);

}  // namespace
}  // namespace neap::testing
