// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/bound.hpp"

#include <gtest/gtest.h>

#include "neap/budget/ladder.hpp"
#include "neap/budget/optimum_for_test.hpp"
#include "neap/budget/problems_for_test.hpp"

namespace neap::budget {
namespace {

TEST(BoundTest, IsNeverAboveTheOptimum) {
  std::int64_t tight = 0;
  std::int64_t proven = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const Problem problem = random_problem(seed, {.calls = 6, .outputs = 2});
    Optimum optimum(problem);
    for (std::int64_t target = full_memory(problem);; --target) {
      const std::optional<std::int64_t> best = optimum.price(target);
      const Bound bound = lower_bound(problem, target, 6);
      if (!best) {
        proven += bound.is_impossible ? 1 : 0;
        break;
      }
      ASSERT_FALSE(bound.is_impossible) << seed << ' ' << target;
      ASSERT_LE(bound.price, *best) << seed << ' ' << target;
      tight += *best > 0 && bound.price == *best ? 1 : 0;
    }
  }
  EXPECT_GT(tight, 50);
  EXPECT_GT(proven, 200);
}

TEST(BoundTest, IsZeroWhereEverythingFits) {
  const Problem problem = chain(20);
  const std::int64_t full = full_memory(problem);
  EXPECT_EQ(lower_bound(problem, full).price, 0);
  const Bound below = lower_bound(problem, full - 1);
  EXPECT_EQ(below.price, 1);
  EXPECT_NE(below.position, kNever);
  EXPECT_TRUE(lower_bound(problem, 1).is_impossible);
}

// A byte of a large value is worth far less than a nanosecond.
TEST(BoundTest, IsAsTightForValuesOfManyBytes) {
  const Problem small = chain(20);
  Problem large = small;
  for (Value& value : large.values) {
    value.size <<= 30U;
  }
  for (Call& call : large.calls) {
    call.scratch <<= 30U;
    call.price *= 1'000'000;
  }
  const std::int64_t full = full_memory(small);
  for (std::int64_t target = full - 1; target > full / 2; --target) {
    const Bound bound = lower_bound(small, target);
    const Bound same = lower_bound(large, target << 30U);
    ASSERT_EQ(bound.is_impossible, same.is_impossible) << target;
    EXPECT_GE(same.price, (bound.price - 1) * 1'000'000) << target;
  }
}

TEST(BoundTest, CutsKeepWhatIsMadeBeforeAndReadLater) {
  std::int64_t cuts = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Problem problem = random_problem(seed, {.calls = 12, .outputs = 2});
    const Uses uses(problem);
    const std::int64_t target = full_memory(problem) * 3 / 4;
    for (const Kept& kept : kept_by_cuts(problem, uses, target, 6)) {
      ++cuts;
      EXPECT_FALSE(kept.values.empty()) << seed;
      for (const std::int32_t v : kept.values) {
        EXPECT_LT(uses.maker(v), kept.position) << seed;
        EXPECT_NE(uses.next(v, 0), kNever) << seed;
      }
    }
  }
  EXPECT_GT(cuts, 100);
}

}  // namespace
}  // namespace neap::budget
