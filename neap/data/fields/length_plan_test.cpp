// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/fields/length_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "neap/base/error.hpp"
#include "neap/base/philox.hpp"

namespace neap::data {
namespace {

using testing::ElementsAre;
using Lengths = std::vector<std::int64_t>;

// Items of all samples, each padded to the least planned length.
std::int64_t items(const Lengths& lengths,
                   std::span<const std::int64_t> planned) {
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) {
    const auto padded =
        std::lower_bound(planned.begin(), planned.end(), length);
    EXPECT_NE(padded, planned.end());
    sum += *padded;
  }
  return sum;
}

// The fewest items by trying all choices of `count` out of the lengths.
std::int64_t fewest(const Lengths& lengths, std::size_t count) {
  Lengths all = lengths;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t choice = 0; choice < (1U << (all.size() - 1)); ++choice) {
    Lengths planned;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if ((choice >> i & 1U) != 0) {
        planned.push_back(all[i]);
      }
    }
    planned.push_back(all.back());
    if (planned.size() <= count) {
      least = std::min(least, items(lengths, planned));
    }
  }
  return least;
}

TEST(LengthPlanTest, PutsALengthWhereItPadsTheFewest) {
  EXPECT_THAT(plan_lengths(Lengths{1, 1, 1, 10, 11, 12}, 2),
              ElementsAre(1, 12));
  EXPECT_THAT(plan_lengths(Lengths{1, 1, 1, 10, 11, 12}, 1), ElementsAre(12));
  EXPECT_THAT(plan_lengths(Lengths{5, 5, 5}, 4), ElementsAre(5));
}

TEST(LengthPlanTest, PadsTheFewestOfAllChoices) {
  const base::DrawKey key{5, 6};
  for (std::uint64_t round = 0; round < 40; ++round) {
    Lengths lengths;
    for (std::uint64_t i = 0; i < 30; ++i) {
      lengths.push_back(1 + key.word(round * 64 + i) % 11 * (1 + round % 3));
    }
    for (const std::size_t count : {1U, 2U, 3U, 5U, 20U}) {
      const auto planned =
          plan_lengths(lengths, static_cast<std::int64_t>(count));
      EXPECT_LE(planned.size(), count);
      EXPECT_EQ(items(lengths, planned), fewest(lengths, count));
    }
  }
}

TEST(LengthPlanTest, GivesMultiples) {
  EXPECT_THAT(plan_lengths(Lengths{0, 3, 9, 17}, 3, 8), ElementsAre(8, 16, 24));
  EXPECT_THAT(plan_lengths(Lengths{0}, 3), ElementsAre(1));
  EXPECT_THAT(plan_lengths(Lengths{}, 3), ElementsAre());
}

TEST(LengthPlanTest, ComparesManyLengthsInCoarserSteps) {
  Lengths lengths;
  for (std::int64_t i = 1; i <= 100'000; ++i) {
    lengths.push_back(i);
  }
  const auto planned = plan_lengths(lengths, 4, 8);
  ASSERT_EQ(planned.size(), 4U);
  EXPECT_GE(planned.back(), 100'000);
  for (const std::int64_t length : planned) {
    EXPECT_EQ(length % 8, 0);
  }
  // Four equal parts pad an eighth of the longest on average.
  const double padded = static_cast<double>(items(lengths, planned)) / 1e5;
  EXPECT_NEAR(padded, 62'500.0, 60.0);
}

TEST(LengthPlanTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW((void)plan_lengths(Lengths{1}, 0), ValueError);
  EXPECT_THROW((void)plan_lengths(Lengths{1}, 257), ValueError);
  EXPECT_THROW((void)plan_lengths(Lengths{1}, 1, 0), ValueError);
  EXPECT_THROW((void)plan_lengths(Lengths{-1}, 1), ValueError);
  EXPECT_THROW((void)plan_lengths(Lengths{std::int64_t{1} << 41U}, 1),
               ValueError);
}

}  // namespace
}  // namespace neap::data
