// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/local_search.hpp"

#include <gtest/gtest.h>

#include "neap/planner/lower_bound.hpp"
#include "neap/planner/problems_for_test.hpp"
#include "neap/planner/validate.hpp"

namespace neap::planner {
namespace {

class LocalSearchTest : public testing::Test {
 protected:
  Plan improved(std::uint64_t seed, std::int64_t steps) {
    Effort effort(kNoLimit, 0);
    return improve(timeline_, orders_, first_, {bound_, seed, steps}, effort);
  }
  Verdict verdict_of(const Plan& plan) {
    Solution solution;
    solution.offsets.resize(problem_.buffers.size());
    for (std::size_t i = 0; i < plan.offsets.size(); ++i) {
      solution.offsets[static_cast<std::size_t>(timeline_.buffers[i])] =
          plan.offsets[i];
    }
    solution.height = plan.height;
    return validate(problem_, solution);
  }

  Problem problem_ = random_problem(
      1, {.buffers = 150, .instants = 60, .longest = 20, .largest = 1000});
  std::int64_t bound_ = lower_bound(problem_).height;
  memory::Vector<Timeline> timelines_ = split_by_time(problem_);
  const Timeline& timeline_ = timelines_[0];
  Orders orders_{timeline_};
  Effort none_{1, 0};
  Plan first_ = greedy(timeline_, orders_, bound_, none_);
};

TEST_F(LocalSearchTest, LowersTheFirstPlan) {
  ASSERT_EQ(timelines_.size(), 1U);
  ASSERT_TRUE(verdict_of(first_).is_good());
  const Plan plan = improved(1, 300'000);
  EXPECT_TRUE(verdict_of(plan).is_good());
  EXPECT_LT(plan.height, first_.height);
  EXPECT_LT(plan.height - bound_, (first_.height - bound_) / 2);
}

TEST_F(LocalSearchTest, FindsTheSamePlanForTheSameSeed) {
  EXPECT_EQ(improved(3, 50'000).offsets, improved(3, 50'000).offsets);
}

TEST_F(LocalSearchTest, SpendsWhatItMayAndKeepsThePlanItHas) {
  EXPECT_EQ(improved(1, 0).offsets, first_.offsets);
  Effort effort(1000, 0);
  improve(timeline_, orders_, first_, {bound_, 1, kNoLimit}, effort);
  EXPECT_TRUE(effort.is_over());
  EXPECT_LT(effort.spent(), 3000);
}

}  // namespace
}  // namespace neap::planner
