// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/narrow.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

OpTable narrow_table() {
  return {.name = "narrow",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return narrow(x[0], 1, 1, 2); },
                    .inputs = {literal({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})},
                    .expected = {1, 2, 5, 6},
                    .shape = Shape{2, 2}},
                   {.name = "from the end",
                    .fn = [](Inputs x) { return narrow(x[0], -1, -2, 2); },
                    .inputs = {literal({4}, {0, 1, 2, 3})},
                    .expected = {2, 3}}},
          .errors = {{.name = "too far",
                      .fn = [](Inputs x) { return narrow(x[0], 0, 2, 3); },
                      .inputs = {uniform({4}, 0, 1)},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "slice has them"};
}

const Listed kNarrowListed(narrow_table);

OpTable select_table() {
  return {.name = "select",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return select(x[0], 0, -1); },
                    .inputs = {literal({2, 3}, {0, 1, 2, 3, 4, 5})},
                    .expected = {3, 4, 5},
                    .shape = Shape{3}}},
          .errors = {{.name = "too far",
                      .fn = [](Inputs x) { return select(x[0], 0, 4); },
                      .inputs = {uniform({4}, 0, 1)},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "slice has them"};
}

const Listed kSelectListed(select_table);

}  // namespace
}  // namespace neap::testing
