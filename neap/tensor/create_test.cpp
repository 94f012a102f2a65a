// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/create.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "neap/base/permutation.hpp"
#include "neap/tensor/generator.hpp"

namespace neap {
namespace {

using testing::ElementsAre;

TEST(CreateTest, CountsFromABeginByAStepToBeforeAnEnd) {
  EXPECT_THAT(arange(2, 7).to_vector(), ElementsAre(2, 3, 4, 5, 6));
  EXPECT_THAT(arange(2, 7, 2).to_vector(), ElementsAre(2, 4, 6));
  EXPECT_THAT(arange(2, 8, 2).to_vector(), ElementsAre(2, 4, 6));
  EXPECT_THAT(arange(1, -1.5, -0.5, f64).to_vector(),
              ElementsAre(1, 0.5, 0, -0.5, -1));
  EXPECT_THAT(arange(-3, 3, 4, i64).to_vector(), ElementsAre(-3, 1));
  EXPECT_EQ(arange(5, 5).shape(), Shape{0});
  EXPECT_EQ(arange(0, 1, 0.1).shape(), Shape{10});
  EXPECT_EQ(arange(0, 1, 0.1, f64).at({7}), 7 * 0.1);
}

TEST(CreateTest, RefusesARangeThatLeadsAway) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(arange(0, 1, -1), ValueError);
  EXPECT_THROW(arange(1, 0), ValueError);
  EXPECT_THROW(arange(0, 1, 0), ValueError);
  EXPECT_THROW(arange(0, kInfinity), ValueError);
  EXPECT_THROW(arange(std::nan(""), 1), ValueError);
  EXPECT_THROW(arange(0, 1e300), ShapeError);
  EXPECT_NO_THROW(arange(1, 1, -1));
}

TEST(CreateTest, PutsNumbersAtEqualDistances) {
  EXPECT_THAT(linspace(0, 10, 11, f64).to_vector(),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_THAT(linspace(3, -1, 3).to_vector(), ElementsAre(3, 1, -1));
  EXPECT_THAT(linspace(0, 9, 3, i32).to_vector(), ElementsAre(0, 4, 9));
  EXPECT_THAT(linspace(4, 9, 1).to_vector(), ElementsAre(4));
  EXPECT_THAT(linspace(4, 9, 2).to_vector(), ElementsAre(4, 9));
  EXPECT_THAT(linspace(0.1, 0.1, 3, f64).to_vector(),
              ElementsAre(0.1, 0.1, 0.1));
  EXPECT_EQ(linspace(0, 1, 0).shape(), Shape{0});
}

TEST(CreateTest, EndsALinspaceExactlyAndIsTheSameFromBothEnds) {
  for (const std::int64_t n : {2, 3, 10, 49, 1000}) {
    const auto up = linspace(0.1, 0.7, n, f64).to_vector();
    const auto down = linspace(0.7, 0.1, n, f64).to_vector();
    EXPECT_EQ(up.front(), 0.1);
    EXPECT_EQ(up.back(), 0.7);
    EXPECT_TRUE(std::ranges::is_sorted(up));
    for (std::size_t i = 0; i < up.size(); ++i) {
      if (2 * i + 1 != up.size()) {  // the middle one is of the later half
        EXPECT_EQ(up[i], down[up.size() - 1 - i]) << n << ", " << i;
      }
    }
  }
}

TEST(CreateTest, SpansTheWholeRangeOfDoubles) {
  constexpr double kMost = std::numeric_limits<double>::max();
  EXPECT_THAT(linspace(-kMost, kMost, 3, f64).to_vector(),
              ElementsAre(-kMost, 0, kMost));
  EXPECT_THROW(linspace(0, std::nan(""), 3), ValueError);
  EXPECT_THROW(linspace(0, 1, -1), ShapeError);
}

TEST(CreateTest, OrdersAllNumbersAtRandom) {
  Generator generator(3);
  const UseGenerator use(generator);
  for (const std::int64_t n : {0, 1, 2, 7, 1000}) {
    auto order = randperm(n).to_vector();
    std::ranges::sort(order);
    const auto all = arange(n, f64).to_vector();
    EXPECT_TRUE(std::ranges::equal(order, all)) << n;
  }
  EXPECT_NE(randperm(100).to_vector(), randperm(100).to_vector());
  EXPECT_EQ(generator.state().draw, 7U);
  EXPECT_THROW(randperm(3, f32), DTypeError);
  EXPECT_THROW(randperm(-1), ShapeError);
  EXPECT_THROW(randperm((std::int64_t{1} << 31U) + 1, i32), ValueError);
}

TEST(CreateTest, GivesEveryOrderTheSameChance) {
  Generator generator(4);
  const UseGenerator use(generator);
  constexpr int kSamples = 24000;
  std::map<std::array<double, 4>, int> counts;
  for (int i = 0; i < kSamples; ++i) {
    const auto order = randperm(4, i32).to_vector();
    ++counts[{order[0], order[1], order[2], order[3]}];
  }
  EXPECT_EQ(counts.size(), 24U);
  double chi_squared = 0.0;
  for (const auto& [order, count] : counts) {
    chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  }
  EXPECT_LT(chi_squared, 49.7);  // 0.999 of 23 degrees of freedom
}

// Without drawing again the lowest third would come twice as often.
TEST(CreateTest, PicksWithoutBiasFromARangeThatDividesNoWord) {
  constexpr std::uint64_t kThird = std::uint64_t{1} << 62U;
  const base::DrawKey key{5, 0};
  std::array<int, 3> counts{};
  constexpr int kEach = 10000;  // expected
  constexpr int kSamples = 3 * kEach;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    ++counts[base::unbiased_below(key, 3 * kThird, i, kSamples) / kThird];
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, kEach, 350);  // four deviations
  }
}

// The order is part of what a seed means: it may not change between versions.
TEST(CreateTest, KeepsTheOrderOfASeed) {
  Generator generator(7);
  const UseGenerator use(generator);
  EXPECT_THAT(randperm(8).to_vector(), ElementsAre(0, 6, 5, 7, 2, 1, 4, 3));
}

}  // namespace
}  // namespace neap
