// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/saturate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace neap::base {
namespace {

template <class To>
class SaturateTest : public testing::Test {};
using Integers =
    testing::Types<std::uint8_t, std::int32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(SaturateTest, Integers);

TYPED_TEST(SaturateTest, TakesTheNearestThatFits) {
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(saturate<TypeParam>(1e30), Limits::max());
  EXPECT_EQ(saturate<TypeParam>(-1e30), Limits::min());
  EXPECT_EQ(saturate<TypeParam>(HUGE_VALF), Limits::max());
  EXPECT_EQ(saturate<TypeParam>(-HUGE_VAL), Limits::min());
  EXPECT_EQ(saturate<TypeParam>(std::nan("")), 0);
}

TYPED_TEST(SaturateTest, TruncatesTowardZeroWhatFits) {
  EXPECT_EQ(saturate<TypeParam>(7.9), 7);
  EXPECT_EQ(saturate<TypeParam>(-0.9F), 0);
  EXPECT_EQ(saturate<TypeParam>(std::int64_t{100}), 100);
}

TEST(SaturateIntegerTest, TakesTheNearestThatFits) {
  EXPECT_EQ(saturate<std::uint8_t>(std::int64_t{300}), 255);
  EXPECT_EQ(saturate<std::uint8_t>(std::int64_t{-1}), 0);
  EXPECT_EQ(saturate<std::int32_t>(std::int64_t{1} << 40),
            std::numeric_limits<std::int32_t>::max());
}

}  // namespace
}  // namespace neap::base
