// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/stored_type.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace neap::formats {
namespace {

template <class To, class From>
std::vector<To> converted(StoredType from, const std::vector<From>& values,
                          bool fits = true) {
  std::vector<To> out(values.size());
  EXPECT_EQ(convert(from, std::as_bytes(std::span(values)), dtype_of<To>,
                    std::as_writable_bytes(std::span(out))),
            fits);
  return out;
}

// IEEE 754's own definition, with the library's arithmetic.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double sign = bits >> 15 != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, -24)
                               : std::ldexp(1024 + fraction, exponent - 25));
}

TEST(StoredTypeTest, EveryHalfHasItsValue) {
  std::vector<std::uint16_t> all(65'536);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<std::uint16_t>(i);
  }
  const auto singles = converted<float>(StoredType::kF16, all);
  const auto doubles = converted<double>(StoredType::kF16, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double wanted = half_value(all[i]);
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(singles[i]) && std::isnan(doubles[i])) << i;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(doubles[i]),
                std::bit_cast<std::uint64_t>(wanted))
          << i;
      EXPECT_EQ(static_cast<double>(singles[i]), wanted) << i;
    }
  }
}

TEST(StoredTypeTest, FloatsAreRoundedToNearestEven) {
  const double half_ulp = std::ldexp(1.0, -24);
  EXPECT_EQ((converted<float>(
                StoredType::kF64,
                std::vector<double>{1 + half_ulp, 1 + 3 * half_ulp, 1e300})),
            (std::vector<float>{1.0F, 1.0F + 4 * static_cast<float>(half_ulp),
                                std::numeric_limits<float>::infinity()}));
  const auto brain =
      converted<BFloat16>(StoredType::kF32, std::vector<float>{1.0F, -2.5F});
  EXPECT_EQ(static_cast<float>(brain[1]), -2.5F);
  EXPECT_EQ((converted<float>(StoredType::kBF16, brain)),
            (std::vector<float>{1.0F, -2.5F}));
}

TEST(StoredTypeTest, IntegersKeepTheirValueOrAreRefused) {
  EXPECT_EQ((converted<std::int32_t>(StoredType::kI8,
                                     std::vector<std::int8_t>{-128, 127})),
            (std::vector<std::int32_t>{-128, 127}));
  EXPECT_EQ(
      (converted<float>(StoredType::kU16, std::vector<std::uint16_t>{65'535})),
      (std::vector<float>{65'535.0F}));
  EXPECT_EQ((converted<std::int64_t>(StoredType::kU32,
                                     std::vector<std::uint32_t>{~0U})),
            (std::vector<std::int64_t>{4'294'967'295}));
  EXPECT_EQ((converted<std::int64_t>(
                StoredType::kU64, std::vector<std::uint64_t>{1, ~0ULL}, false)),
            (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ((converted<std::uint8_t>(
                StoredType::kI32, std::vector<std::int32_t>{255, -1}, false)),
            (std::vector<std::uint8_t>{255, 0}));
}

TEST(StoredTypeTest, ConversionsThatLoseTheMeaningAreNotDone) {
  EXPECT_TRUE(may_convert(StoredType::kF16, f32));
  EXPECT_TRUE(may_convert(StoredType::kI64, f32));
  EXPECT_TRUE(may_convert(StoredType::kBool, f32));
  EXPECT_TRUE(may_convert(StoredType::kBool, boolean));
  EXPECT_TRUE(may_convert(StoredType::kI64, u8));
  EXPECT_FALSE(may_convert(StoredType::kF16, i64));
  EXPECT_FALSE(may_convert(StoredType::kU8, boolean));
}

}  // namespace
}  // namespace neap::formats
