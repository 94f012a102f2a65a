// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/softmax_grad.hpp"

#include <cmath>

#include "neap/ops/softmax.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// y (g - sum(g y)) along the last axis.
std::vector<double> rule(std::span<const HostArray> x) {
  std::vector<double> out = x[0].values;
  const auto n = static_cast<std::size_t>(x[0].shape.back());
  for (std::size_t start = 0; start < out.size(); start += n) {
    double sum = 0.0;
    for (std::size_t i = start; i < start + n; ++i) {
      sum += x[0].values[i] * x[1].values[i];
    }
    for (std::size_t i = start; i < start + n; ++i) {
      out[i] = x[1].values[i] * (x[0].values[i] - sum);
    }
  }
  return out;
}

OpTable softmax_grad_table() {
  OpTable table{.name = "softmax_grad", .op = &ops::kSoftmaxGrad};
  table.rows = {
      {.name = "last axis",
       .fn = [](Inputs x) { return ops::softmax_grad(x[0], x[1], 1); },
       .inputs = {uniform({3, 5}, -2, 2), uniform({3, 5}, -2, 0)},
       .reference = rule,
       .zero_size = {{{0, 5}, {0, 5}}, {{3, 0}, {3, 0}}}},
      {.name = "large",
       .fn = [](Inputs x) { return ops::softmax_grad(x[0], x[1], 1); },
       .inputs = {uniform({301, 97}, -2, 2), uniform({301, 97}, -2, 0)},
       .reference = rule,
       .f32_value = {1e-5, 1e-5},
       .f32_derivative = {1e-4, 1e-4},
       .second_derivative = false}};
  table.errors = {
      {.name = "shapes",
       .fn = [](Inputs x) { return ops::softmax_grad(x[0], x[1], 0); },
       .inputs = {uniform({3}, 0, 1), uniform({4}, 0, 1)},
       .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(softmax_grad_table);

}  // namespace
}  // namespace neap::testing
