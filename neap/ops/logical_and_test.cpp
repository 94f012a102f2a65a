// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/logical_and.hpp"

#include "neap/ops/logical_test.hpp"

namespace neap::testing {
namespace {

OpTable logical_and_table() {
  return logical_table({.name = "logical_and",
                        .op = &ops::kLogicalAnd,
                        .fn = logical_and,
                        .reference = [](double a, double b) {
                          return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
                        }});
}

const Listed kListed(logical_and_table);

}  // namespace
}  // namespace neap::testing
