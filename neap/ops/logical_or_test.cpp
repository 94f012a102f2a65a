// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/logical_or.hpp"

#include "neap/ops/logical_test.hpp"

namespace neap::testing {
namespace {

OpTable logical_or_table() {
  return logical_table({.name = "logical_or",
                        .op = &ops::kLogicalOr,
                        .fn = logical_or,
                        .reference = [](double a, double b) {
                          return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
                        }});
}

const Listed kListed(logical_or_table);

}  // namespace
}  // namespace neap::testing
