// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/schedule.hpp"

#include <gtest/gtest.h>

namespace neap::optim {
namespace {

TEST(ScheduleTest, ConstantStays) {
  const Schedule schedule = constant(0.5);
  EXPECT_EQ(schedule(0), 0.5);
  EXPECT_EQ(schedule(1000000), 0.5);
}

TEST(ScheduleTest, WarmUpClimbsInEqualPartsToItsRate) {
  const Schedule schedule = warm_up(1.0, 4);
  EXPECT_EQ(schedule(0), 0.25);
  EXPECT_EQ(schedule(2), 0.75);
  EXPECT_EQ(schedule(3), 1.0);
  EXPECT_EQ(schedule(9), 1.0);
  EXPECT_EQ(warm_up(1.0, 0)(0), 1.0);
}

TEST(ScheduleTest, CosineFallsFromItsRateToItsLeast) {
  const Schedule schedule = cosine(1.0, 10, 0, 0.2);
  EXPECT_EQ(schedule(0), 1.0);
  EXPECT_NEAR(schedule(5), 0.6, 1e-15);
  EXPECT_EQ(schedule(10), 0.2);
  EXPECT_EQ(schedule(11), 0.2);
}

TEST(ScheduleTest, CosineWarmsUpFirst) {
  const Schedule schedule = cosine(1.0, 12, 2);
  EXPECT_EQ(schedule(0), 0.5);
  EXPECT_EQ(schedule(1), 1.0);
  EXPECT_EQ(schedule(2), 1.0);
  EXPECT_NEAR(schedule(7), 0.5, 1e-15);
  EXPECT_EQ(cosine(1.0, 2, 5)(5), 0.0);
}

TEST(ScheduleTest, StepDecayDropsAfterEveryFewSteps) {
  const Schedule schedule = step_decay(1.0, 3, 0.5);
  EXPECT_EQ(schedule(2), 1.0);
  EXPECT_EQ(schedule(3), 0.5);
  EXPECT_EQ(schedule(6), 0.25);
}

TEST(ScheduleTest, ExponentialDecaysAtEveryStep) {
  EXPECT_EQ(exponential(8.0, 0.5)(3), 1.0);
}

TEST(ScheduleTest, TakesAnySmallFunctionOfTheStep) {
  EXPECT_FALSE(static_cast<bool>(Schedule()));
  const double slope = 0.5;
  const Schedule own = [slope](std::int64_t step) {
    return slope * static_cast<double>(step);
  };
  const Schedule copy = own;
  EXPECT_TRUE(static_cast<bool>(copy));
  EXPECT_EQ(copy(4), 2.0);
}

}  // namespace
}  // namespace neap::optim
