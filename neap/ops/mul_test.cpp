// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/mul.hpp"

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

OpTable mul_table() {
  OpTable table =
      binary_table({.name = "mul",
                    .op = &ops::kMul,
                    .fn = mul,
                    .reference = [](double a, double b) { return a * b; },
                    .a = uniform({}, -2, 2),
                    .b = uniform({}, -2, 2),
                    .takes_integers = true});
  return table;
}

const Listed kListed(mul_table);

}  // namespace
}  // namespace neap::testing
