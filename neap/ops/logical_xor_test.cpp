// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/logical_xor.hpp"

#include "neap/ops/logical_test.hpp"

namespace neap::testing {
namespace {

OpTable logical_xor_table() {
  return logical_table({.name = "logical_xor",
                        .op = &ops::kLogicalXor,
                        .fn = logical_xor,
                        .reference = [](double a, double b) {
                          return (a != 0.0) != (b != 0.0) ? 1.0 : 0.0;
                        }});
}

const Listed kListed(logical_xor_table);

}  // namespace
}  // namespace neap::testing
