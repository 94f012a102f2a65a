// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sub.hpp"

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

OpTable sub_table() {
  OpTable table =
      binary_table({.name = "sub",
                    .op = &ops::kSub,
                    .fn = sub,
                    .reference = [](double a, double b) { return a - b; },
                    .a = uniform({}, -2, 2),
                    .b = uniform({}, -2, 2),
                    .takes_integers = true});
  return table;
}

const Listed kListed(sub_table);

}  // namespace
}  // namespace neap::testing
