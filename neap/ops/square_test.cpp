// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/square.hpp"

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

OpTable square_table() {
  OpTable table = unary_table({.name = "square",
                               .op = &ops::kSquare,
                               .fn = square,
                               .reference = [](double x) { return x * x; },
                               .domain = uniform({}, -2, 2),
                               .takes_integers = true});
  return table;
}

const Listed kListed(square_table);

}  // namespace
}  // namespace neap::testing
