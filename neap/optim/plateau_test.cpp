// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/plateau.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "neap/optim/parameters_test.hpp"
#include "neap/optim/sgd.hpp"

namespace neap::optim {
namespace {

constexpr std::array kMeasures{1.0, 0.9, 0.9, 0.95, 0.9, 0.89995, 0.5, 0.6,
                               0.6, 0.6, 0.6, 0.6,  0.4, 0.6,     0.6, 0.6};
using Rates = std::array<double, kMeasures.size()>;

// Rates after each measure of torch.optim.lr_scheduler.ReduceLROnPlateau, from
// a rate of 1, PyTorch 2.15, and its state at the end.
void expect_rates(const PlateauOptions& options, double sign,
                  const Rates& rates, const PlateauState& end) {
  SGD sgd(named({{"w", parameter({1})}}), {.lr = 1.0});
  ReduceOnPlateau plateau(sgd, options);
  for (std::size_t i = 0; i < kMeasures.size(); ++i) {
    const double before = sgd.lr();
    const bool was_time = plateau.step(sign * kMeasures[i]);
    EXPECT_DOUBLE_EQ(sgd.lr(), rates[i]) << i;
    EXPECT_TRUE(was_time || sgd.lr() == before);
  }
  EXPECT_EQ(plateau.state(), end);
}

TEST(PlateauTest, FollowsPyTorch) {
  expect_rates({.factor = 0.5, .patience = 2}, 1.0,
               {1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25,
                0.25, 0.25, 0.125},
               {.best = 0.4});
  expect_rates({.factor = 0.1, .patience = 1, .cooldown = 2, .min_lr = 0.05},
               1.0,
               {1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05,
                0.05, 0.05, 0.05},
               {.best = 0.4, .bad = 0, .cooling = 1});
  Rates halved{1};
  for (std::size_t i = 1; i < halved.size(); ++i) {
    halved[i] = halved[i - 1] * (i == 5 || i == 6 ? 1.0 : 0.5);
  }
  expect_rates({.factor = 0.5,
                .patience = 0,
                .threshold = 0.1,
                .relative = false,
                .maximize = true},
               -1.0, halved, {.best = -0.5});
}

TEST(PlateauTest, ContinuesFromItsState) {
  SGD a(named({{"w", parameter({1})}}), {.lr = 1.0});
  SGD b(named({{"w", parameter({1})}}), {.lr = 1.0});
  ReduceOnPlateau first(a, {.factor = 0.5, .patience = 2});
  ReduceOnPlateau second(b, {.factor = 0.5, .patience = 2});
  for (std::size_t i = 0; i < kMeasures.size(); ++i) {
    first.step(kMeasures[i]);
    if (i == 7) {  // one bad measure is waiting
      second.set_state(first.state());
      b.set_state(a.state());
    } else if (i > 7) {
      second.step(kMeasures[i]);
      EXPECT_EQ(b.lr(), a.lr()) << i;
    }
  }
  EXPECT_EQ(second.state(), first.state());
}

TEST(PlateauTest, LowersTheRatesOfAllGroups) {
  SGD sgd(named({{"w", parameter({1})}}), {.lr = 1.0});
  sgd.add_group(named({{"b", parameter({1})}}), {.lr = 0.01});
  ReduceOnPlateau plateau(sgd, {.factor = 0.1, .patience = 0, .min_lr = 0.004});
  plateau.step(1.0);
  EXPECT_TRUE(plateau.step(1.0));
  EXPECT_DOUBLE_EQ(sgd.lr(0), 0.1);
  EXPECT_DOUBLE_EQ(sgd.lr(1), 0.004);
}

TEST(PlateauTest, TakesNaNForNoImprovement) {
  SGD sgd(named({{"w", parameter({1})}}), {.lr = 1.0});
  ReduceOnPlateau plateau(sgd, {.patience = 1});
  EXPECT_FALSE(plateau.step(std::nan("")));
  EXPECT_TRUE(plateau.step(std::nan("")));
  EXPECT_FALSE(plateau.step(5.0));
  EXPECT_EQ(plateau.state().best, 5.0);
}

TEST(PlateauTest, RefusesBadSettings) {
  SGD sgd(named({{"w", parameter({1})}}));
  EXPECT_THROW(ReduceOnPlateau(sgd, {.factor = 1.0}), ValueError);
  EXPECT_THROW(ReduceOnPlateau(sgd, {.patience = -1}), ValueError);
  EXPECT_THROW(ReduceOnPlateau(sgd, {.threshold = std::nan("")}), ValueError);
  ReduceOnPlateau plateau(sgd);
  EXPECT_THROW(plateau.set_state({.best = std::nan("")}), ValueError);
  EXPECT_THROW(plateau.set_state({.bad = -1}), ValueError);
}

}  // namespace
}  // namespace neap::optim
