// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/add.hpp"

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

OpTable add_table() {
  OpTable table =
      binary_table({.name = "add",
                    .op = &ops::kAdd,
                    .fn = add,
                    .reference = [](double a, double b) { return a + b; },
                    .a = uniform({}, -2, 2),
                    .b = uniform({}, -2, 2),
                    .takes_integers = true});
  return table;
}

const Listed kListed(add_table);

}  // namespace
}  // namespace neap::testing
