// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/dot.hpp"

#include <numeric>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

std::vector<double> products_added(std::span<const HostArray> x) {
  return {std::inner_product(x[0].values.begin(), x[0].values.end(),
                             x[1].values.begin(), 0.0)};
}

OpTable dot_table() {
  const OpFunction fn = [](Inputs x) { return dot(x[0], x[1]); };
  OpTable table{.name = "dot"};
  table.rows = {{.name = "vectors",
                 .fn = fn,
                 .inputs = {uniform({7}, -1, 1), uniform({7}, -1, 1)},
                 .reference = products_added,
                 .shape = Shape{},
                 .zero_size = {{{0}, {0}}}}};
  table.errors = {
      {.name = "lengths",
       .fn = fn,
       .inputs = {uniform({3}, 0, 1), uniform({1}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "matrices",
       .fn = fn,
       .inputs = {uniform({3, 3}, 0, 1), uniform({3, 3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "integers",
       .fn = fn,
       .inputs = {integers({3}, 0, 5).as(i32), integers({3}, 0, 5).as(i32)},
       .error = typeid(DTypeError),
       .says = "matmul:"}};
  return table;
}

const Listed kListed(dot_table);

}  // namespace
}  // namespace neap::testing
