// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/logical_not.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

OpTable logical_not_table() {
  return {.name = "logical_not",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return logical_not(x[0]); },
                    .inputs = {integers({3, 5}, 0, 2)},
                    .reference = each([](double x) { return 1.0 - x; }),
                    .zero_size = {{{0, 4}}},
                    .dtypes = {boolean},
                    .differentiable = false}},
          .errors = {{.name = "floats",
                      .fn = [](Inputs x) { return logical_not(x[0]); },
                      .inputs = {uniform({3}, 0, 1)},
                      .error = typeid(DTypeError)}}};
}

const Listed kListed(logical_not_table);

}  // namespace
}  // namespace neap::testing
