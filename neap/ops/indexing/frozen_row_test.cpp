// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/frozen_row.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// A row that is constant by decree: differences see it move.
OpTable frozen_row_table() {
  return {.name = "frozen_row",
          .op = &ops::kFrozenRow,
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return ops::frozen_row(x[0], 1); },
                    .inputs = {literal({3, 2}, {1, 2, 3, 4, 5, 6})},
                    .expected = {1, 2, 3, 4, 5, 6},
                    .expected_vjp = {{1, 1, 0, 0, 1, 1}},
                    .expected_jvp = {1, 1, 0, 0, 1, 1},
                    .smooth = false}},
          .no_zero_size = "the row exists"};
}

const Listed kListed(frozen_row_table);

}  // namespace
}  // namespace neap::testing
