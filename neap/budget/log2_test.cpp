// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/log2.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace neap::budget {
namespace {

TEST(Log2Test, RisesAndIsExactAtPowersOfTwo) {
  EXPECT_EQ(log2_of(-5), 0);
  EXPECT_EQ(log2_of(0), 0);
  for (int k = 0; k < 63; ++k) {
    EXPECT_EQ(log2_of(std::int64_t{1} << k), k * kOctave);
  }
  for (std::int64_t x = 1; x < 5000; ++x) {
    EXPECT_LE(log2_of(x), log2_of(x + 1)) << x;
  }
  EXPECT_EQ(log2_of(3), kOctave + kOctave / 2);
  EXPECT_EQ(log2_of(std::numeric_limits<std::int64_t>::max()),
            63 * kOctave - 1);
}

TEST(Log2Test, HasAnInverse) {
  for (std::int64_t log = 0; log < 62 * kOctave; ++log) {
    const std::int64_t most = most_with_log2(log);
    EXPECT_LE(log2_of(most), log) << log;
    EXPECT_GT(log2_of(most + 1), log) << log;
  }
  EXPECT_EQ(most_with_log2(-1), 0);
  EXPECT_EQ(most_with_log2(62 * kOctave),
            std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace neap::budget
