// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/slice_put.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

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

const Listed kListed(slice_put_table);

}  // namespace
}  // namespace neap::testing
