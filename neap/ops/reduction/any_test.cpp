// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/any.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

const InputSpec kSome = literal({3, 4}, {0, 0, 0, 0, 0, 2, 0, 1, 1, 3, -1, 5});

// How many elements of each row are not zero.
std::vector<double> counts(std::span<const HostArray> x) {
  const std::int64_t columns = x[0].shape[1];
  std::vector<double> y(static_cast<std::size_t>(x[0].shape[0]), 0.0);
  for (std::size_t i = 0; i < x[0].values.size(); ++i) {
    y[i / static_cast<std::size_t>(columns)] += x[0].values[i] != 0.0 ? 1 : 0;
  }
  return y;
}

using Call = Tensor (*)(const TensorOperand&, const Shape&, bool);
using CallAll = Tensor (*)(const TensorOperand&);

// Rows over an axis, over all, over bool, with NaN, and errors.
OpTable table_of(const std::string& name, Call over, CallAll over_all,
                 Reference rows, const std::vector<double>& of_all,
                 const std::vector<double>& of_nan) {
  OpTable table{.name = name};
  table.rows = {{.name = "rows",
                 .fn = [=](Inputs x) { return over(x[0], {1}, false); },
                 .inputs = {kSome},
                 .reference = rows,
                 .shape = Shape{3},
                 .zero_size = {{{0, 4}}, {{3, 0}}},
                 .dtypes = {f32, f64, i32, i64},
                 .differentiable = false},
                {.name = "all",
                 .fn = [=](Inputs x) { return over_all(x[0]); },
                 .inputs = {kSome},
                 .expected = of_all,
                 .shape = Shape{},
                 .differentiable = false},
                {.name = "bool, kept",
                 .fn = [=](Inputs x) { return over(x[0], {-1}, true); },
                 .inputs = {integers({5, 300}, 0, 2)},
                 .reference = rows,
                 .shape = Shape{5, 1},
                 .dtypes = {boolean},
                 .differentiable = false},
                {.name = "nan",
                 .fn = [=](Inputs x) { return over(x[0], {0}, false); },
                 .inputs = {literal({2, 2}, {std::nan(""), 0, 1, 0})},
                 .expected = of_nan,
                 .differentiable = false}};
  table.errors = {{.name = "axis",
                   .fn = [=](Inputs x) { return over(x[0], {2}, false); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

OpTable any_table() {
  return table_of("any", any, any,
                  [](std::span<const HostArray> x) {
                    std::vector<double> y = counts(x);
                    for (double& n : y) {
                      n = n > 0 ? 1 : 0;
                    }
                    return y;
                  },
                  {1}, {1, 0});
}

OpTable all_table() {
  return table_of("all", all, all,
                  [](std::span<const HostArray> x) {
                    std::vector<double> y = counts(x);
                    for (double& n : y) {
                      n = n == static_cast<double>(x[0].shape[1]) ? 1 : 0;
                    }
                    return y;
                  },
                  {0}, {1, 0});
}

OpTable count_nonzero_table() {
  return table_of("count_nonzero", count_nonzero, count_nonzero, counts, {6},
                  {2, 0});
}

const Listed kAny(any_table);
const Listed kAll(all_table);
const Listed kCount(count_nonzero_table);

}  // namespace
}  // namespace neap::testing
