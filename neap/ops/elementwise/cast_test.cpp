// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/cast.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

std::vector<double> same(std::span<const HostArray> x) {
  return x[0].values;
}

OpTable cast_table() {
  // Through f64 where the dtype under test is f32, and back: both directions.
  OpTable table{.name = "cast", .op = &ops::kCast};
  table.rows = {{.name = "f32 to f64",
                 .fn = [](Inputs x) { return cast(x[0], f64); },
                 .inputs = {uniform({3, 5}, -2, 2)},
                 .reference = same,
                 .zero_size = {{{0, 4}}},
                 .dtypes = {f32}},
                {.name = "f64 by way of f32",
                 .fn = [](Inputs x) { return cast(cast(x[0], f32), f64); },
                 .inputs = {integers({3, 5}, -100, 100)},
                 .reference = same,
                 .dtypes = {f64},
                 .smooth = false},
                {.name = "f32 by way of bf16",
                 .fn = [](Inputs x) { return cast(cast(x[0], bf16), f32); },
                 .inputs = {literal({4}, {1, -2.5, 3.140625, 1.00390625})},
                 .expected = {1, -2.5, 3.140625, 1},
                 .expected_vjp = {{1, 1, 1, 1}},
                 .expected_jvp = {1, 1, 1, 1},
                 .dtypes = {f32},
                 .smooth = false},
                {.name = "to integers",
                 .fn = [](Inputs x) { return cast(x[0], i32); },
                 .inputs = {literal({5}, {1.9, -1.9, 0, 7, -3})},
                 .expected = {1, -1, 0, 7, -3},
                 .differentiable = false},
                {.name = "to bool and back",
                 .fn = [](Inputs x) { return cast(cast(x[0], boolean), u8); },
                 .inputs = {literal({4}, {0, -0.0, 0.5, -3})},
                 .expected = {0, 0, 1, 1},
                 .differentiable = false},
                {.name = "large",
                 .fn = [](Inputs x) { return cast(x[0], f64); },
                 .inputs = {uniform({131, 263}, -2, 2)},
                 .reference = same,
                 .dtypes = {f32}},
                {.name = "between integers",
                 .fn = [](Inputs x) { return cast(x[0], f64); },
                 .inputs = {integers({3, 5}, -100, 100)},
                 .reference = same,
                 .dtypes = {i32, i64}}};
  return table;
}

const Listed kListed(cast_table);

}  // namespace
}  // namespace neap::testing
