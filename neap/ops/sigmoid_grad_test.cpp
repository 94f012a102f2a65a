// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sigmoid_grad.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

std::vector<double> rule(std::span<const HostArray> x) {
  return each_pair([](double g, double y) { return g * y * (1.0 - y); })(x);
}

OpRow row(const char* name, const Shape& shape) {
  InputSpec y = uniform({}, 0, 1);
  y.shape = shape;
  return {.name = name,
          .fn = [](Inputs x) { return sigmoid_grad(x[0], x[1]); },
          .inputs = {uniform(shape, -2, 2), y},
          .reference = rule};
}

OpTable sigmoid_grad_table() {
  OpTable table{.name = "sigmoid_grad", .op = &ops::kSigmoidGrad};
  table.rows = {row("matrix", {3, 5}), row("rank 0", {}),
                row("large", {131, 263})};
  table.rows[0].zero_size = {{{0, 4}, {0, 4}}};
  table.rows[2].second_derivative = false;
  table.errors = {{.name = "shapes",
                   .fn = [](Inputs x) { return sigmoid_grad(x[0], x[1]); },
                   .inputs = {uniform({3}, 0, 1), uniform({3, 1}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "dtypes",
                   .fn = [](Inputs x) { return sigmoid_grad(x[0], x[1]); },
                   .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1).as(f64)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(sigmoid_grad_table);

}  // namespace
}  // namespace neap::testing
