// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of ops dx = g s(v) of one shape, with v the input or the output
// of an elementwise op.
#pragma once

#include "neap/testing/op_table.hpp"

namespace neap::testing {

struct SlopeOp {
  std::string name{};
  const graph::Op* op = nullptr;
  Tensor (*fn)(const Tensor& g, const Tensor& v) = nullptr;
  double (*reference)(double g, double v) = nullptr;
  InputSpec domain{};  // of v; its shape is not used
};

inline OpTable slope_table(const SlopeOp& op) {
  const OpFunction fn = [f = op.fn](Inputs x) { return f(x[0], x[1]); };
  const auto row = [&](const char* name, const Shape& shape) {
    InputSpec v = op.domain;
    v.shape = shape;
    return OpRow{.name = name,
                 .fn = fn,
                 .inputs = {uniform(shape, -2, 2), v},
                 .reference = each_pair(op.reference)};
  };
  OpTable table{.name = op.name, .op = op.op};
  table.rows = {row("matrix", {3, 5}), row("rank 0", {}),
                row("large", {131, 263})};
  table.rows[0].zero_size = {{{0, 4}, {0, 4}}};
  table.rows[2].second_derivative = false;
  table.errors = {{.name = "shapes",
                   .fn = fn,
                   .inputs = {uniform({3}, 0, 1), uniform({3, 1}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "dtypes",
                   .fn = fn,
                   .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1).as(f64)},
                   .error = typeid(DTypeError)}};
  return table;
}

}  // namespace neap::testing
