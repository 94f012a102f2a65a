// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/placer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace neap::planner {
namespace {

using Offsets = std::array<std::int64_t, 4>;

// 0 and 1 live at different times below 2; 3 meets them all.
//
//   |  2  2  |
//   |  1     |
//   |  1  0  |
Timeline example() {
  Timeline timeline;
  timeline.items = {{.begin = 1, .end = 2, .size = 2},
                    {.begin = 0, .end = 1, .size = 5},
                    {.begin = 0, .end = 2, .size = 3},
                    {.begin = 1, .end = 2, .size = 2}};
  timeline.sections = 2;
  return timeline;
}

constexpr std::array<std::int32_t, 4> kOrder = {1, 2, 0, 3};

Offsets place_all(Fit last, std::int64_t limit) {
  const Timeline timeline = example();
  Placer placer(timeline);
  const std::array<Fit, 4> fits = {Fit::kLowest, Fit::kLowest, Fit::kLowest,
                                   last};
  EXPECT_EQ(placer.place(kOrder, fits, limit, 0), 4U);
  Offsets offsets{};
  placer.write_offsets(offsets);
  return offsets;
}

TEST(PlacerTest, TakesTheLowestGap) {
  EXPECT_EQ(place_all(Fit::kLowest, 20), (Offsets{0, 0, 5, 2}));
}

TEST(PlacerTest, TakesTheHighestPlaceBelowTheLimit) {
  EXPECT_EQ(place_all(Fit::kHighest, 20), (Offsets{0, 0, 5, 18}));
  EXPECT_EQ(place_all(Fit::kHighest, 9), (Offsets{0, 0, 5, 3}));
}

TEST(PlacerTest, TakesTheTightestGap) {
  Timeline timeline;
  timeline.items = {{.begin = 0, .end = 2, .size = 1, .fixed = 4},
                    {.begin = 0, .end = 2, .size = 1, .fixed = 7},
                    {.begin = 1, .end = 2, .size = 2}};
  timeline.sections = 2;
  Placer placer(timeline);
  EXPECT_EQ(placer.fixed_height(), 8);
  const std::array<std::int32_t, 3> order = {2, 0, 1};
  const std::array<Fit, 3> fits = {Fit::kTightest, Fit::kTightest,
                                   Fit::kTightest};
  ASSERT_EQ(placer.place(order, fits, 8, 0), 3U);
  std::array<std::int64_t, 3> offsets{};
  placer.write_offsets(offsets);
  EXPECT_EQ(offsets[2], 5);
}

TEST(PlacerTest, NamesTheFirstThatFindsNoPlaceAndGoesOnFromThere) {
  const Timeline timeline = example();
  Placer placer(timeline);
  const std::array<Fit, 4> fits{};
  std::array<std::int32_t, 4> order = {0, 2, 1, 3};
  EXPECT_EQ(placer.place(order, fits, 8, 0), 2U);
  order = {0, 1, 2, 3};
  EXPECT_EQ(placer.place(order, fits, 8, 1), 4U);
  EXPECT_EQ(placer.height(), 8);
  EXPECT_GT(placer.take_steps(), 4);
}

TEST(PlacerTest, KeepsAlignmentsAlsoFromAbove) {
  Timeline timeline;
  timeline.items = {{.begin = 0, .end = 1, .size = 3, .alignment = 8}};
  timeline.sections = 1;
  Placer placer(timeline);
  const std::array<std::int32_t, 1> order = {0};
  const std::array<Fit, 1> fits = {Fit::kHighest};
  ASSERT_EQ(placer.place(order, fits, 18, 0), 1U);
  std::array<std::int64_t, 1> offsets{};
  placer.write_offsets(offsets);
  EXPECT_EQ(offsets[0], 8);
}

// The place of the last item, by `fit`, beside fixed ones.
std::int64_t place_last(const Timeline& timeline, Fit fit,
                        std::int64_t limit = 100) {
  Placer placer(timeline);
  const auto last = static_cast<std::int32_t>(timeline.items.size() - 1);
  const std::array<std::int32_t, 1> order = {last};
  const std::vector<Fit> fits(timeline.items.size(), fit);
  if (placer.place(order, fits, limit, 0) != 1U) {
    return -1;
  }
  std::vector<std::int64_t> offsets(timeline.items.size());
  placer.write_offsets(offsets);
  return offsets.back();
}

TEST(PlacerTest, ItemsThatMeetInAnInstantAloneShareAPlace) {
  Timeline timeline;
  timeline.sections = 3;
  timeline.items = {{.begin = 0, .end = 1, .size = 4, .fixed = 0},
                    {.begin = 2, .end = 3, .size = 4, .fixed = 0},
                    {.begin = 1, .end = 2, .size = 4}};
  for (const Fit fit : {Fit::kLowest, Fit::kTightest}) {
    EXPECT_EQ(place_last(timeline, fit), 0);
  }
  EXPECT_EQ(place_last(timeline, Fit::kHighest, 4), 0);
  timeline.items[2].fixed = 0;
  EXPECT_TRUE(Placer(timeline).is_possible());
  std::swap(timeline.items[0], timeline.items[2]);
  EXPECT_TRUE(Placer(timeline).is_possible());
}

TEST(PlacerTest, FillsAGapToItsEdges) {
  Timeline timeline;
  timeline.sections = 1;
  timeline.items = {{.begin = 0, .end = 1, .size = 2, .fixed = 0},
                    {.begin = 0, .end = 1, .size = 2, .fixed = 5},
                    {.begin = 0, .end = 1, .size = 3}};
  for (const Fit fit : {Fit::kLowest, Fit::kTightest}) {
    EXPECT_EQ(place_last(timeline, fit), 2);
  }
  EXPECT_EQ(place_last(timeline, Fit::kHighest, 7), 2);
  EXPECT_EQ(place_last(timeline, Fit::kHighest, 10), 7);
  timeline.items[2].size = 4;
  EXPECT_EQ(place_last(timeline, Fit::kLowest, 11), 7);
  EXPECT_EQ(place_last(timeline, Fit::kLowest, 10), -1);
  EXPECT_EQ(place_last(timeline, Fit::kHighest, 10), -1);
}

TEST(PlacerTest, TakesTheLowerOfGapsThatAreAsTight) {
  Timeline timeline;
  timeline.sections = 1;
  timeline.items = {{.begin = 0, .end = 1, .size = 1, .fixed = 0},
                    {.begin = 0, .end = 1, .size = 1, .fixed = 4},
                    {.begin = 0, .end = 1, .size = 1, .fixed = 7},
                    {.begin = 0, .end = 1, .size = 1, .fixed = 10},
                    {.begin = 0, .end = 1, .size = 2}};
  EXPECT_EQ(place_last(timeline, Fit::kTightest), 5);
  EXPECT_EQ(place_last(timeline, Fit::kLowest), 1);
  timeline.items[0].fixed = 1;  // the gap below it is the tightest
  timeline.items[4].size = 1;
  EXPECT_EQ(place_last(timeline, Fit::kTightest), 0);
  timeline.items[4].size = 9;
  EXPECT_EQ(place_last(timeline, Fit::kTightest), 11);
}

TEST(PlacerTest, FixedItemsMayTouchOneAnother) {
  Timeline timeline;
  timeline.sections = 1;
  timeline.items = {{.begin = 0, .end = 1, .size = 3, .fixed = 3},
                    {.begin = 0, .end = 1, .size = 3, .fixed = 0},
                    {.begin = 0, .end = 1, .size = 3, .fixed = 6}};
  EXPECT_TRUE(Placer(timeline).is_possible());
  EXPECT_EQ(Placer(timeline).fixed_height(), 9);
  timeline.items[2].fixed = 5;
  EXPECT_FALSE(Placer(timeline).is_possible());
}

TEST(PlacerTest, CountsAStepAnItemAndOneForAHundredLooks) {
  Timeline timeline;
  timeline.sections = 1;
  constexpr std::int32_t kItems = 20;  // 0 + 1 + ... + 19 = 190 looks
  timeline.items.assign(kItems, {.begin = 0, .end = 1, .size = 1});
  std::vector<std::int32_t> order(kItems);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<Fit> fits(kItems, Fit::kLowest);
  Placer placer(timeline);
  ASSERT_EQ(placer.place(order, fits, kItems, 0), order.size());
  EXPECT_EQ(placer.take_steps(), kItems + 1);
  EXPECT_EQ(placer.take_steps(), 0);  // and 90 looks are kept
  ASSERT_EQ(placer.place(order, fits, kItems, kItems - 1), order.size());
  EXPECT_EQ(placer.take_steps(), 1 + 1);
  EXPECT_EQ(placer.height(), kItems);
}

TEST(PlacerTest, SeesFixedItemsThatOverlap) {
  Timeline timeline;
  timeline.items = {{.begin = 0, .end = 1, .size = 3, .fixed = 0},
                    {.begin = 0, .end = 1, .size = 3, .fixed = 2}};
  timeline.sections = 1;
  EXPECT_FALSE(Placer(timeline).is_possible());
  timeline.items[1].fixed = 3;
  EXPECT_TRUE(Placer(timeline).is_possible());
}

// Many items are found by blocks of time. What comes later meets none of the
// first, so that these lie where they do when they are few.
TEST(PlacerTest, ManyItemsLieWhereFewWould) {
  constexpr std::int32_t kFew = 3000;
  std::uint32_t random = 7;
  const auto below = [&random](std::uint32_t n) {
    random = random * 1664525U + 1013904223U;
    return static_cast<std::int32_t>((random >> 8U) % n);
  };
  Timeline few;
  few.sections = 400;
  for (std::int32_t i = 0; i < kFew; ++i) {
    const std::int32_t begin = below(399);
    const std::int32_t length = 1 + below(i % 8 == 0 ? 200 : 5);
    few.items.push_back({.begin = begin,
                         .end = std::min(begin + length, few.sections),
                         .size = 1 + below(9),
                         .alignment = 1 + below(2)});
  }
  Timeline many = few;
  for (const Item& item : few.items) {
    many.items.push_back({.begin = item.begin + 400,
                          .end = item.end + 400,
                          .size = item.size,
                          .alignment = item.alignment});
  }
  many.sections = 800;
  std::vector<std::int32_t> order(2 * kFew);
  std::iota(order.begin(), order.end(), 0);
  for (const Fit fit : {Fit::kLowest, Fit::kTightest, Fit::kHighest}) {
    const std::vector<Fit> fits(2 * kFew, fit);
    const std::int64_t limit = 100'000;
    std::vector<std::int64_t> alone(kFew);
    std::vector<std::int64_t> together(2 * kFew);
    Placer small(few);
    Placer large(many);
    const std::span<const std::int32_t> all(order);
    EXPECT_EQ(small.place(all.first(kFew), fits, limit, 0), kFew);
    for (const std::size_t kept : {std::size_t{0}, std::size_t{1000}}) {
      EXPECT_EQ(large.place(all, fits, limit, kept), 2U * kFew);
      small.write_offsets(alone);
      large.write_offsets(together);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin()));
      EXPECT_TRUE(
          std::equal(alone.begin(), alone.end(), together.begin() + kFew));
    }
  }
}

}  // namespace
}  // namespace neap::planner
