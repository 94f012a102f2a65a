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

}  // namespace
}  // namespace neap::budget
