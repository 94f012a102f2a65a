// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/ladder.hpp"

#include <gtest/gtest.h>

#include "neap/budget/ladder_for_test.hpp"
#include "neap/budget/optimum_for_test.hpp"
#include "neap/budget/problems_for_test.hpp"

namespace neap::budget {
namespace {

TEST(LadderTest, RungsHalveInThirtyTwoSteps) {
  constexpr std::int64_t kFull = std::int64_t{1} << 40U;
  EXPECT_EQ(rung_of(kFull, 0), kFull);
  EXPECT_EQ(rung_of(kFull, 32), kFull / 2);
  EXPECT_EQ(rung_of(kFull, 64), kFull / 4);
  for (std::int32_t k = 0; k < 100; ++k) {
    const double ratio = static_cast<double>(rung_of(kFull, k + 1)) /
                         static_cast<double>(rung_of(kFull, k));
    EXPECT_NEAR(ratio, 0.97857, 1e-5) << k;
  }
}

TEST(LadderTest, ALargerBudgetNeverCostsMore) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Problem problem = random_problem(seed, {.calls = 40});
    SCOPED_TRACE(seed);
    expect_ladder(problem, ladder(problem, {.search = {.walks = 100}}));
  }
}

// Beyond the rankings, walks change the ranks of single values.
TEST(LadderTest, MoreWalksMakeSomeRungsCheaper) {
  std::int64_t few = 0;
  std::int64_t many = 0;
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const Problem problem = random_problem(seed, {.calls = 40});
    const auto some = ladder(problem, {.search = {.walks = 50}});
    const auto more = ladder(problem, {.search = {.walks = 150}});
    ASSERT_EQ(some.size(), more.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      EXPECT_LE(more[i].found.price, some[i].found.price);
      few += some[i].found.price;
      many += more[i].found.price;
    }
  }
  EXPECT_LT(many, few);
}

TEST(LadderTest, StepsAndTheLeastRungAreThoseAskedFor) {
  const Problem problem = chain(40);
  const auto all = ladder(problem, {.search = {.walks = 50}});
  const auto some = ladder(problem, {.search = {.walks = 50}, .step = 8});
  EXPECT_GT(all.size(), 2 * some.size());
  const auto high = ladder(problem, {.search = {.walks = 50}, .least = 30});
  EXPECT_GE(high.front().target, 30);
  EXPECT_TRUE(ladder({}).empty());
}

}  // namespace
}  // namespace neap::budget
