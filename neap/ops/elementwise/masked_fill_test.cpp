// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/masked_fill.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

OpTable masked_fill_table() {
  return {.name = "masked_fill",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return masked_fill(x[0], x[1], 0.5); },
                    .inputs = {literal({2, 2}, {1, 2, 3, 4}),
                               literal({2}, {0, 1}).as(boolean)},
                    .expected = {1, 0.5, 3, 0.5}}},
          .errors = {{.name = "mask",
                      .fn = [](Inputs x) { return masked_fill(x[0], x[1], 0); },
                      .inputs = {uniform({2}, 0, 1), uniform({2}, 0, 1)},
                      .error = typeid(DTypeError),
                      .says = "where:"}},
          .no_zero_size = "where has them"};
}

const Listed kListed(masked_fill_table);

}  // namespace
}  // namespace neap::testing
