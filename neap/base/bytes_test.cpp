// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/bytes.hpp"

#include <gtest/gtest.h>

namespace neap {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

TEST(BytesTest, GroupsDigitsByThreeFromTheRight) {
  EXPECT_EQ(format_grouped(0), "0");
  EXPECT_EQ(format_grouped(999), "999");
  EXPECT_EQ(format_grouped(1000), "1 000");
  EXPECT_EQ(format_grouped(14051328), "14 051 328");
  EXPECT_EQ(format_grouped(100000), "100 000");
}

TEST(BytesTest, KeepsTheSignOutOfTheGroups) {
  EXPECT_EQ(format_grouped(-999), "-999");
  EXPECT_EQ(format_grouped(-123456), "-123 456");
  EXPECT_EQ(format_grouped(kMin), "-9 223 372 036 854 775 808");
}

TEST(BytesTest, SaysBytesPlainlyBelowOneKibibyte) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes_short(-1023), "-1023 B");
}

TEST(BytesTest, PicksTheUnitAndKeepsTheExactCount) {
  EXPECT_EQ(format_bytes(kKiB), "1.0 KiB (1 024 B)");
  EXPECT_EQ(format_bytes(14051328), "13.4 MiB (14 051 328 B)");
  EXPECT_EQ(format_bytes_short(3 * kGiB / 2), "1.5 GiB");
  EXPECT_EQ(format_bytes_short(-2 * kMiB), "-2.0 MiB");
}

TEST(BytesTest, StaysInTheLargestUnitForTheLargestCount) {
  EXPECT_EQ(format_bytes_short(kUnlimited), "8192.0 PiB");
}

TEST(BytesTest, MultipliesUpToTheLastValueThatFits) {
  EXPECT_EQ(base::checked_mul(kMax / 2, 2), kMax - 1);
  EXPECT_EQ(base::checked_mul(kMin / 2, 2), kMin);
  EXPECT_THROW(base::checked_mul(kMax / 2 + 1, 2), ShapeError);
  EXPECT_THROW(base::checked_mul(kMin, -1), ShapeError);
}

TEST(BytesTest, AddsUpToTheLastValueThatFits) {
  EXPECT_EQ(base::checked_add(kMax - 1, 1), kMax);
  EXPECT_THROW(base::checked_add(kMax, 1), ShapeError);
  EXPECT_THROW(base::checked_add(kMin, -1), ShapeError);
}

TEST(BytesTest, RoundsUpToTheUnitAndLeavesMultiplesAlone) {
  EXPECT_EQ(base::round_up(0, 64), 0);
  EXPECT_EQ(base::round_up(1, 64), 64);
  EXPECT_EQ(base::round_up(64, 64), 64);
  EXPECT_EQ(base::round_up(65, 64), 128);
}

}  // namespace
}  // namespace neap
