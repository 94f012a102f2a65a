// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/det.hpp"

#include "neap/ops/linalg/matrices_test.hpp"

namespace neap::testing {
namespace {

OpTable det_table() {
  OpTable table{.name = "det", .op = &ops::kDet};
  table.rows = {
      {.name = "batched",
       .fn = [](Inputs x) { return det(regular(x[0])); },
       .inputs = {uniform({2, 3, 4, 4}, -1, 1)},
       .reference = [](auto x) { return determinants(regular(x[0])); },
       .shape = Shape{2, 3},
       .zero_size = {{{0, 3, 3}}}},
      {.name = "rows that must change places",
       .fn = [](Inputs x) { return det(x[0]); },
       .inputs = {literal({2, 2, 2}, {0, 2, 3, 0, 1, 0, 0, 1})},
       .expected = {-6, 1},
       .any_layout = false},
      {.name = "singular",
       .fn = [](Inputs x) { return det(x[0]); },
       .inputs = {literal({2, 2, 2}, {1, 2, 2, 4, 3, NAN, 1, 1})},
       .expected = {0, NAN},
       .differentiable = false},
      {.name = "of nothing",
       .fn = [](Inputs x) { return det(x[0]); },
       .inputs = {uniform({2, 0, 0}, 0, 1)},
       .expected = {1, 1},
       .differentiable = false}};
  table.errors = {{.name = "not square",
                   .fn = [](Inputs x) { return det(x[0]); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "integers",
                   .fn = [](Inputs x) { return det(x[0]); },
                   .inputs = {integers({2, 2}, 0, 3).as(i64)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(det_table);

}  // namespace
}  // namespace neap::testing
