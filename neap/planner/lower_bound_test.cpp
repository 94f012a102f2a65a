// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/lower_bound.hpp"

#include <gtest/gtest.h>

#include "neap/planner/problems_for_test.hpp"

namespace neap::planner {
namespace {

// The sum at every instant, the plain way.
std::int64_t slow_bound(const Problem& problem) {
  std::int64_t best = 0;
  for (const Buffer& at : problem.buffers) {
    std::int64_t sum = 0;
    for (const Buffer& b : problem.buffers) {
      const bool lives = b.lower <= at.lower && at.lower < b.upper;
      sum += lives ? b.size : 0;
    }
    best = std::max(best, sum);
  }
  return best;
}

TEST(LowerBoundTest, IsTheLargestSumOfLiveSizes) {
  Problem problem;
  EXPECT_EQ(lower_bound(problem).height, 0);
  problem.buffers = {{.lower = 0, .upper = 4, .size = 3},
                     {.lower = 2, .upper = 6, .size = 4},
                     {.lower = 4, .upper = 9, .size = 5},
                     {.lower = 6, .upper = 7, .size = 1}};
  EXPECT_EQ(lower_bound(problem).height, 9);
  EXPECT_EQ(lower_bound(problem).instant, 4);
}

TEST(LowerBoundTest, AgreesWithThePlainSum) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Problem problem =
        random_problem(seed, {.buffers = 40, .instants = 30, .longest = 12});
    EXPECT_EQ(lower_bound(problem).height, slow_bound(problem));
  }
}

// 10 and 20 of alignment 16: either way one starts at a multiple of 16 above
// the other's end: 16 + 20 or 32 + 10.
TEST(LowerBoundTest, RoundsAllButTheTopmostUpToTheCommonAlignment) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 10, .alignment = 16},
                     {.upper = 1, .size = 20, .alignment = 48}};
  EXPECT_EQ(lower_bound(problem).height, 36);
}

TEST(LowerBoundTest, IsNothingForBuffersWithoutRoom) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 0, .alignment = 16}};
  EXPECT_EQ(lower_bound(problem).height, 0);
}

TEST(LowerBoundTest, SeesTheEndOfAFixedBuffer) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 10, .fixed = 90},
                     {.upper = 1, .size = 0, .fixed = 200}};
  EXPECT_EQ(lower_bound(problem).height, 100);
}

TEST(LowerBoundTest, CountsAGroupOfAliasesOnce) {
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 2, .size = 8},
                     {.lower = 5, .upper = 6, .size = 4, .alias_of = 0},
                     {.lower = 3, .upper = 4, .size = 1}};
  EXPECT_EQ(lower_bound(problem).height, 9);
}

}  // namespace
}  // namespace neap::planner
