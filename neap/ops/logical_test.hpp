// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of ops on two truth values.
#pragma once

#include "neap/testing/op_table.hpp"

namespace neap::testing {

struct LogicalOp {
  std::string name{};
  const graph::Op* op = nullptr;
  Tensor (*fn)(const Operand& a, const Operand& b) = nullptr;
  double (*reference)(double a, double b) = nullptr;  // 0: false
};

inline OpTable logical_table(const LogicalOp& op) {
  const OpFunction fn = [f = op.fn](Inputs x) { return f(x[0], x[1]); };
  const Reference reference = each_pair(op.reference);
  const auto row = [&](const char* name, const Shape& a, const Shape& b) {
    return OpRow{.name = name,
                 .fn = fn,
                 .inputs = {integers(a, 0, 2), integers(b, 0, 2)},
                 .reference = reference,
                 .dtypes = {boolean},
                 .differentiable = false};
  };
  OpTable table{.name = op.name,
                .op = op.op,
                .rows = {row("equal shapes", {3, 5}, {3, 5}),
                         row("broadcast", {3, 1}, {2, 1, 4}),
                         row("large", {131, 263}, {263})}};
  table.rows[0].zero_size = {{{0, 4}, {0, 4}}, {{3, 0}, {1, 1}}};
  table.errors = {{.name = "floats",
                   .fn = fn,
                   .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1)},
                   .error = typeid(DTypeError)},
                  {.name = "shapes",
                   .fn = fn,
                   .inputs = {integers({3, 2}, 0, 2).as(boolean),
                              integers({4}, 0, 2).as(boolean)},
                   .error = typeid(ShapeError)}};
  return table;
}

}  // namespace neap::testing
