// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/timeline.hpp"

#include <gtest/gtest.h>

#include "neap/planner/problems_for_test.hpp"

namespace neap::planner {
namespace {

TEST(TimelineTest, SplitsWhereNothingLivesOn) {
  Problem problem;
  problem.buffers = {{.lower = 4, .upper = 6, .size = 1},
                     {.lower = 0, .upper = 2, .size = 1},
                     {.lower = 1, .upper = 4, .size = 1},
                     {.lower = 3, .upper = 5, .size = 0}};
  const auto parts = split_by_time(problem);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].buffers, (memory::Vector<std::int32_t>{1, 2}));
  EXPECT_EQ(parts[1].buffers, (memory::Vector<std::int32_t>{0}));
  EXPECT_TRUE(split_by_time({}).empty());
}

// a, b and c come one after the other before a goes: one section; d another.
TEST(TimelineTest, HasASectionForEachLastComerBeforeALeaver) {
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 5, .size = 1},
                     {.lower = 1, .upper = 9, .size = 1},
                     {.lower = 2, .upper = 9, .size = 1},
                     {.lower = 5, .upper = 7, .size = 1}};
  const auto parts = split_by_time(problem);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].sections, 2);
  EXPECT_EQ(parts[0].items[0].end, 1);
  EXPECT_EQ(parts[0].items[1].begin, 0);
  EXPECT_EQ(parts[0].items[1].end, 2);
  EXPECT_EQ(parts[0].items[3].begin, 1);
}

TEST(TimelineTest, ItemsMeetExactlyWhereBuffersDo) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const Problem problem =
        random_problem(seed, {.buffers = 30, .instants = 25, .longest = 8});
    for (const Timeline& part : split_by_time(problem)) {
      for (std::size_t i = 0; i < part.items.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
          const Buffer& a =
              problem.buffers[static_cast<std::size_t>(part.buffers[i])];
          const Buffer& b =
              problem.buffers[static_cast<std::size_t>(part.buffers[k])];
          EXPECT_EQ(part.items[i].meets(part.items[k]),
                    a.lower < b.upper && b.lower < a.upper);
        }
      }
    }
  }
}

}  // namespace
}  // namespace neap::planner
