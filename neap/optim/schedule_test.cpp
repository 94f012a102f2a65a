// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/schedule.hpp"

#include <gtest/gtest.h>

#include <array>

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

TEST(ScheduleTest, LinearFallsFromItsRateToItsLeast) {
  const Schedule schedule = linear(1.0, 12, 2, 0.5);
  EXPECT_EQ(schedule(0), 0.5);
  EXPECT_EQ(schedule(2), 1.0);
  EXPECT_EQ(schedule(7), 0.75);
  EXPECT_EQ(schedule(12), 0.5);
  EXPECT_EQ(linear(1.0, 2, 5)(5), 0.0);
}

TEST(ScheduleTest, WarmupStableDecayFallsOverItsLastSteps) {
  const Schedule schedule = warmup_stable_decay(1.0, 20, 2, 4, 0.2);
  EXPECT_EQ(schedule(0), 0.5);
  EXPECT_EQ(schedule(2), 1.0);
  EXPECT_EQ(schedule(16), 1.0);
  EXPECT_NEAR(schedule(18), 0.6, 1e-15);
  EXPECT_NEAR(schedule(19), 0.4, 1e-15);
  EXPECT_EQ(schedule(20), 0.2);
  EXPECT_EQ(warmup_stable_decay(1.0, 4, 0, 0)(3), 1.0);
}

// torch.optim.lr_scheduler.OneCycleLR(max_lr=1, total_steps=10), PyTorch 2.15.
TEST(ScheduleTest, OneCycleFollowsPyTorch) {
  const Schedule schedule = one_cycle(1.0, 10);
  constexpr std::array kRates{0.040000000000000036,
                              0.52,
                              1.0,
                              0.9504846320134737,
                              0.8117456539497631,
                              0.6112620219362893,
                              0.38874197806371075,
                              0.18825834605023697,
                              0.049519367986526286,
                              4e-06};
  for (std::size_t step = 0; step < kRates.size(); ++step) {
    EXPECT_NEAR(schedule(static_cast<std::int64_t>(step)), kRates[step], 1e-15)
        << step;
  }
  EXPECT_EQ(schedule(10), schedule(9));
  EXPECT_EQ(one_cycle(1.0, 1)(0), 1.0 / 250000.0);
}

// torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(T_0=3, T_mult=2,
// eta_min=0.1) from a rate of 1, PyTorch 2.15.
TEST(ScheduleTest, CosineRestartsFollowPyTorch) {
  const Schedule schedule = cosine_restarts(1.0, 3, 2, 0.1);
  constexpr std::array kRates{1.0,
                              0.775,
                              0.3250000000000001,
                              1.0,
                              0.9397114317029974,
                              0.775,
                              0.55,
                              0.3250000000000001,
                              0.16028856829700258,
                              1.0,
                              0.9846666218300807,
                              0.9397114317029974};
  for (std::size_t step = 0; step < kRates.size(); ++step) {
    EXPECT_NEAR(schedule(static_cast<std::int64_t>(step)), kRates[step], 1e-15)
        << step;
  }
  EXPECT_EQ(cosine_restarts(1.0, 4)(400), 1.0);
  const std::int64_t late = std::int64_t{1} << 62;
  EXPECT_LE(cosine_restarts(1.0, 3, late)(late + 5), 1.0);
  EXPECT_LE(cosine_restarts(1.0, 3, 2)(late), 1.0);
}

TEST(ScheduleTest, InverseSqrtFallsFromTheEndOfItsWarmUp) {
  const Schedule schedule = inverse_sqrt(1.0, 4);
  EXPECT_EQ(schedule(0), 0.25);
  EXPECT_EQ(schedule(3), 1.0);
  EXPECT_EQ(schedule(15), 0.5);
  EXPECT_EQ(inverse_sqrt(1.0, 0)(0), 1.0);
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
