// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/dtype.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace neap {
namespace {

float from_bits(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
std::uint16_t rounded(std::uint32_t bits) {
  return BFloat16(from_bits(bits)).bits;
}

TEST(DTypeTest, NamesAndSizesEveryElementType) {
  EXPECT_EQ(name_of(f32), "f32");
  EXPECT_EQ(name_of(f64), "f64");
  EXPECT_EQ(name_of(bf16), "bf16");
  EXPECT_EQ(name_of(i32), "i32");
  EXPECT_EQ(name_of(i64), "i64");
  EXPECT_EQ(name_of(u8), "u8");
  EXPECT_EQ(name_of(boolean), "bool");
  EXPECT_EQ(name_of(static_cast<DType>(kDTypeCount)), "?");
}

TEST(DTypeTest, SizesAgreeWithTheTypesThatStoreThem) {
  EXPECT_EQ(size_of(dtype_of<float>), int{sizeof(float)});
  EXPECT_EQ(size_of(dtype_of<double>), int{sizeof(double)});
  EXPECT_EQ(size_of(dtype_of<BFloat16>), int{sizeof(BFloat16)});
  EXPECT_EQ(size_of(dtype_of<std::int32_t>), int{sizeof(std::int32_t)});
  EXPECT_EQ(size_of(dtype_of<std::int64_t>), int{sizeof(std::int64_t)});
  EXPECT_EQ(size_of(dtype_of<std::uint8_t>), int{sizeof(std::uint8_t)});
  EXPECT_EQ(size_of(dtype_of<bool>), int{sizeof(bool)});
}

TEST(DTypeTest, OnlyFloatsCarryDerivatives) {
  EXPECT_TRUE(is_floating(f32) && is_floating(f64) && is_floating(bf16));
  EXPECT_FALSE(is_floating(i32) || is_floating(i64) || is_floating(u8) ||
               is_floating(boolean));
}

TEST(BFloat16Test, KeepsWhatFitsExactly) {
  EXPECT_EQ(BFloat16(1.0F).bits, 0x3F80);
  EXPECT_EQ(BFloat16(-2.0F).bits, 0xC000);
  EXPECT_EQ(BFloat16(0.0F).bits, 0x0000);
  EXPECT_EQ(BFloat16(-0.0F).bits, 0x8000);
  EXPECT_EQ(static_cast<float>(BFloat16(0.15625F)), 0.15625F);
}

TEST(BFloat16Test, EveryPatternSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    BFloat16 value;
    value.bits = static_cast<std::uint16_t>(bits);
    const BFloat16 back(static_cast<float>(value));
    const bool is_nan = (bits & 0x7FFFU) > 0x7F80U;
    ASSERT_EQ(back.bits, is_nan ? bits | 0x40U : bits);
  }
}

TEST(BFloat16Test, RoundsToTheNearest) {
  EXPECT_EQ(rounded(0x3F807FFF), 0x3F80);
  EXPECT_EQ(rounded(0x3F808001), 0x3F81);
  EXPECT_EQ(rounded(0xBF808001), 0xBF81);
}

TEST(BFloat16Test, RoundsTiesToTheEvenFraction) {
  EXPECT_EQ(rounded(0x3F808000), 0x3F80);
  EXPECT_EQ(rounded(0x3F818000), 0x3F82);
  EXPECT_EQ(rounded(0xBF818000), 0xBF82);
}

TEST(BFloat16Test, CarriesFromTheFractionIntoTheExponent) {
  EXPECT_EQ(rounded(0x3FFFFFFF), 0x4000);
}

TEST(BFloat16Test, RoundsTheLargestFloatsToInfinityAndKeepsInfinities) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7F80);
  EXPECT_EQ(BFloat16(kInfinity).bits, 0x7F80);
  EXPECT_EQ(BFloat16(-kInfinity).bits, 0xFF80);
}

TEST(BFloat16Test, RoundsSubnormalsLikeAllOthers) {
  EXPECT_EQ(rounded(0x00000001), 0x0000);
  EXPECT_EQ(rounded(0x00018000), 0x0002);
  EXPECT_EQ(rounded(0x007FFFFF), 0x0080);
}

// Rounding up a NaN's fraction would make an infinity, or turn its sign.
TEST(BFloat16Test, KeepsNanAQuietNanWithItsSign) {
  EXPECT_EQ(rounded(0x7F800001), 0x7FC0);
  EXPECT_EQ(rounded(0x7FFFFFFF), 0x7FFF);
  EXPECT_EQ(rounded(0xFFFFFFFF), 0xFFFF);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(from_bits(0x7F800001)))));
}

}  // namespace
}  // namespace neap
