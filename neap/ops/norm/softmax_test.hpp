// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of softmax and log_softmax, and of their derivative rules.
#pragma once

#include "neap/testing/op_table.hpp"

namespace neap::testing {

struct SoftmaxOp {
  std::string name{};
  const graph::Op* op = nullptr;
  OpFunction along_last{};  // no axis is given
  Tensor (*along)(const TensorOperand& x, std::int64_t axis) = nullptr;
  Reference reference{};             // along the last axis
  std::vector<double> of_columns{};  // of the columns (3000, 3000), (-500, 500)
};

inline OpTable softmax_table(const SoftmaxOp& op) {
  const auto along = [f = op.along](int axis) -> OpFunction {
    return [f, axis](Inputs x) { return f(x[0], axis); };
  };
  OpTable table{.name = op.name, .op = op.op};
  table.rows = {{.name = "last axis",
                 .fn = op.along_last,
                 .inputs = {uniform({2, 3, 5}, -2, 2)},
                 .reference = op.reference,
                 .zero_size = {{{0, 5}}, {{3, 0}}}},
                {.name = "first axis, far apart",
                 .fn = along(0),
                 .inputs = {literal({2, 2}, {3000, -500, 3000, 500})},
                 .expected = op.of_columns,
                 .smooth = false},
                {.name = "large",
                 .fn = along(1),
                 .inputs = {uniform({301, 97}, -2, 2)},
                 .reference = op.reference,
                 .second_derivative = false}};
  table.errors = {{.name = "axis",
                   .fn = along(2),
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "integers",
                   .fn = op.along_last,
                   .inputs = {integers({2, 3}, 0, 5).as(i64)},
                   .error = typeid(DTypeError)}};
  return table;
}

struct SoftmaxGradOp {
  std::string name{};
  const graph::Op* op = nullptr;
  Tensor (*fn)(const Operand& g, const Operand& y, std::int64_t axis) = nullptr;
  Reference reference{};  // along the last axis
};

inline OpTable softmax_grad_table(const SoftmaxGradOp& op) {
  const auto along = [f = op.fn](int axis) -> OpFunction {
    return [f, axis](Inputs x) { return f(x[0], x[1], axis); };
  };
  OpTable table{.name = op.name, .op = op.op};
  table.rows = {
      {.name = "last axis",
       .fn = along(1),
       .inputs = {uniform({3, 5}, -2, 2), uniform({3, 5}, -2, 0)},
       .reference = op.reference,
       .zero_size = {{{0, 5}, {0, 5}}, {{3, 0}, {3, 0}}}},
      {.name = "large",
       .fn = along(1),
       .inputs = {uniform({301, 97}, -2, 2), uniform({301, 97}, -2, 0)},
       .reference = op.reference,
       .f32_value = {1e-5, 1e-5},
       .f32_derivative = {1e-4, 1e-4},
       .second_derivative = false}};
  table.errors = {{.name = "shapes",
                   .fn = along(0),
                   .inputs = {uniform({3}, 0, 1), uniform({4}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

}  // namespace neap::testing
