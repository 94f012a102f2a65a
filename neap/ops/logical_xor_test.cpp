// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/logical_xor.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

OpTable logical_xor_table() {
  const OpFunction fn = [](Inputs x) { return logical_xor(x[0], x[1]); };
  const Reference reference = each_pair(
      [](double a, double b) { return (a != 0.0) != (b != 0.0) ? 1.0 : 0.0; });
  const auto row = [&](const char* name, const Shape& a, const Shape& b) {
    return OpRow{.name = name,
                 .fn = fn,
                 .inputs = {integers(a, 0, 2), integers(b, 0, 2)},
                 .reference = reference,
                 .dtypes = {boolean},
                 .differentiable = false};
  };
  OpTable table{.name = "logical_xor",
                .op = &ops::kLogicalXor,
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

const Listed kListed(logical_xor_table);

}  // namespace
}  // namespace neap::testing
