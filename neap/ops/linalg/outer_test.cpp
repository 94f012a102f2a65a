// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/outer.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

std::vector<double> products(std::span<const HostArray> x) {
  std::vector<double> out;
  for (const double a : x[0].values) {
    for (const double b : x[1].values) {
      out.push_back(a * b);
    }
  }
  return out;
}

OpTable outer_table() {
  const OpFunction fn = [](Inputs x) { return outer(x[0], x[1]); };
  OpTable table{.name = "outer"};
  table.rows = {{.name = "vectors",
                 .fn = fn,
                 .inputs = {uniform({3}, -1, 1), uniform({5}, -1, 1)},
                 .reference = products,
                 .shape = Shape{3, 5},
                 .zero_size = {{{0}, {5}}, {{3}, {0}}}},
                {.name = "integers",
                 .fn = fn,
                 .inputs = {integers({3}, -5, 5), integers({2}, -5, 5)},
                 .reference = products,
                 .dtypes = {i32, i64},
                 .differentiable = false}};
  table.errors = {{.name = "matrix",
                   .fn = fn,
                   .inputs = {uniform({3, 3}, 0, 1), uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(outer_table);

}  // namespace
}  // namespace neap::testing
