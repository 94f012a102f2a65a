// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/max.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

using Call = ValuesAndIndices (*)(const Operand&, std::int64_t, bool);

// `sign` is 1 for max, -1 for min, which sees everything mirrored.
OpTable table_of(const std::string& name, Call call, double sign) {
  const double nan = std::nan("");
  const auto mirrored = [sign](std::vector<double> values) {
    for (double& value : values) {
      value *= sign;
    }
    return values;
  };
  OpTable table{.name = name};
  table.rows = {{.name = "values",
                 .fn = [=](Inputs x) { return call(x[0], 1, false).values; },
                 .inputs = {literal({2, 3}, mirrored({1, 4, 2, 8, 5, 7}))},
                 .expected = mirrored({4, 8}),
                 .shape = Shape{2}},
                {.name = "indices, kept",
                 .fn = [=](Inputs x) { return call(x[0], -2, true).indices; },
                 .inputs = {literal({2, 3}, mirrored({1, 5, 2, 8, 4, 2}))},
                 .expected = {1, 0, 0},
                 .shape = Shape{1, 3},
                 .dtypes = {f32, f64, i32, i64},
                 .differentiable = false},
                {.name = "the first of equal ones",
                 .fn = [=](Inputs x) { return call(x[0], 1, false).values; },
                 .inputs = {literal({2, 3}, mirrored({1, 4, 4, 2, 2, 2}))},
                 .expected = mirrored({4, 2}),
                 .expected_vjp = {{0, 1, 0, 1, 0, 0}},
                 .expected_jvp = {1, 1},
                 .smooth = false},
                {.name = "nan",
                 .fn = [=](Inputs x) { return call(x[0], 0, false).values; },
                 .inputs = {literal({3}, {1, nan, 2})},
                 .expected = {nan},
                 .differentiable = false}};
  table.no_zero_size = "an axis without elements has none to choose";
  table.errors = {{.name = "axis",
                   .fn = [=](Inputs x) { return call(x[0], 2, false).values; },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "empty axis",
                   .fn = [=](Inputs x) { return call(x[0], 1, false).values; },
                   .inputs = {uniform({2, 0}, 0, 1)},
                   .error = typeid(ValueError)}};
  return table;
}

const Listed kMax([] { return table_of("max", max, 1.0); });
const Listed kMin([] { return table_of("min", min, -1.0); });

}  // namespace
}  // namespace neap::testing
