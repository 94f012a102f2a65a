// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/philox.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace neap::base {
namespace {

constexpr std::uint32_t kOnes = 0xFFFFFFFFU;

// The known answers that the generator's authors publish for 10 rounds.
TEST(PhiloxTest, HasTheKnownAnswerForZeros) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
}

TEST(PhiloxTest, HasTheKnownAnswerForOnes) {
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxBlock{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
}

TEST(PhiloxTest, HasTheKnownAnswerForTheDigitsOfPi) {
  EXPECT_EQ(philox({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344},
                   {0xA4093822, 0x299F31D0}),
            (PhiloxBlock{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(PhiloxTest, RunsAtCompileTime) {
  static_assert(philox({0, 0, 0, 0}, {0, 0})[0] == 0x6627E8D5);
}

TEST(DrawKeyTest, PutsTheSeedInTheKeyAndTheDrawBesideTheBlock) {
  const DrawKey key{0x1111111122222222U, 0x3333333344444444U};
  EXPECT_EQ(key.block(0x5555555566666666U),
            philox({0x66666666, 0x55555555, 0x44444444, 0x33333333},
                   {0x22222222, 0x11111111}));
}

TEST(DrawKeyTest, WordsOfElementsAreTheBlocksInOrder) {
  const DrawKey key{7, 3};
  for (std::uint64_t element = 0; element < 12; ++element) {
    EXPECT_EQ(key.word(element), key.block(element / 4)[element % 4]);
  }
  EXPECT_EQ(key.word(4 * (1ULL << 33U)), key.block(1ULL << 33U)[0]);
}

TEST(UniformTest, CoversZeroToJustBelowOne) {
  EXPECT_EQ(uniform_f32(0), 0.0F);
  EXPECT_EQ(uniform_f32(kOnes), 1.0F - 0x1.0p-24F);
  EXPECT_EQ(uniform_f32(0x80000000), 0.5F);
  EXPECT_EQ(uniform_f64(0, 0), 0.0);
  EXPECT_EQ(uniform_f64(kOnes, kOnes), 1.0 - 0x1.0p-53);
  EXPECT_EQ(uniform_f64(0x80000000, 0), 0.5);
}

TEST(UniformTest, UsesAllBitsOfBothWords) {
  EXPECT_EQ(uniform_f64(0, 1U << 11U), 0x1.0p-53);
  EXPECT_EQ(uniform_f64(1, 0), 0x1.0p-32);
  EXPECT_EQ(uniform_f32(1U << 8U), 0x1.0p-24F);
}

TEST(UniformTest, HasTheMeanAndVarianceOfAUniform) {
  const DrawKey key{2026, 1};
  constexpr int kDraws = 200000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = uniform_f32(key.word(static_cast<std::uint64_t>(i)));
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 0.5, 0.003);
  EXPECT_NEAR(squares / kDraws - mean * mean, 1.0 / 12, 0.001);
}

}  // namespace
}  // namespace neap::base
