// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/neg.hpp"

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

OpTable neg_table() {
  OpTable table = unary_table({.name = "neg",
                               .op = &ops::kNeg,
                               .fn = neg,
                               .reference = [](double x) { return -x; },
                               .domain = uniform({}, -2, 2),
                               .takes_integers = true});
  return table;
}

const Listed kListed(neg_table);

}  // namespace
}  // namespace neap::testing
