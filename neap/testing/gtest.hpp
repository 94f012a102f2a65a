// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For tests that use GoogleTest: reports as expectations. The library itself
// does not know GoogleTest; whoever includes this links it.
#pragma once

#include <gtest/gtest.h>

#include <ostream>

#include "neap/testing/op_check.hpp"

namespace neap::testing {

inline void expect_ok(const Report& report) {
  EXPECT_TRUE(report.ok()) << report.text();
}

/// How GoogleTest names a table that is a test's parameter.
inline void PrintTo(const OpTable& table, std::ostream* stream) {
  *stream << table.name;
}

}  // namespace neap::testing
