// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/ema.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "neap/optim/parameters_test.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::optim {
namespace {

using ::testing::ElementsAre;

class EmaTest : public DoorTest {};

void fill(Tensor w, float number) {
  std::ranges::fill(w.mutable_values<float>(), number);
}

// The t-th number that element i has.
double value(int t, std::int64_t i) {
  return std::sin(1.3 * t + 0.7 * static_cast<double>(i));
}

void put(Tensor w, int t) {
  const auto all = w.mutable_values<double>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = value(t, static_cast<std::int64_t>(i));
  }
}

// The closed form: sum of the values by their weights.
double expected(const std::vector<double>& decays, std::int64_t i) {
  double sum = 0.0;
  double left = 1.0;
  for (std::size_t t = decays.size(); t-- > 0;) {
    sum += left * (1.0 - decays[t]) * value(static_cast<int>(t) + 1, i);
    left *= decays[t];
  }
  return sum + left * value(0, i);
}

void expect_closed_form(const EmaOptions& options) {
  const Tensor a = requires_grad_(zeros({3}, f64));
  const Tensor b = zeros({2, 2}, f64);
  put(a, 0);
  put(b, 0);
  Ema ema(named({{"a", a}, {"b", b}}), options);
  std::vector<double> decays;
  for (int t = 0; t < 20; ++t) {
    put(a, t + 1);
    put(b, t + 1);
    ema.update();
    decays.push_back(options.warm_up
                         ? std::min(options.decay, (1.0 + t) / (10.0 + t))
                         : options.decay);
  }
  EXPECT_EQ(ema.update_count(), 20);
  for (const Parameter& average : ema.averages()) {
    const auto found = average.tensor.to_vector();
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected(decays, static_cast<std::int64_t>(i)),
                  1e-14);
    }
  }
}

TEST_F(EmaTest, IsTheSumOfAllValuesByTheirWeights) {
  expect_closed_form({.decay = 0.9});
  expect_closed_form({.decay = 0.5, .warm_up = true});
  expect_closed_form({.decay = 0.0});
}

TEST_F(EmaTest, BeginsAsACopyAndStaysWithADecayOf1) {
  const Tensor w = parameter({1, -2});
  Ema ema(named({{"w", w}}), {.decay = 1.0});
  EXPECT_EQ(ema.averages()[0].name, "w");
  fill(w, 5.0F);
  ema.update();
  EXPECT_THAT(ema.averages()[0].tensor.to_vector(), ElementsAre(1, -2));
}

TEST_F(EmaTest, ChangesPlacesWithItsTensorsWithoutAThirdCopy) {
  const Tensor w = parameter({1, -2});
  Ema ema(named({{"w", w}}), {.decay = 0.5});
  fill(w, 5.0F);
  ema.update();
  const Bytes before = domain_->stats().live;
  const auto allocations = domain_->stats().allocations;
  const void* data = w.values<float>().data();
  const Tensor average = ema.averages()[0].tensor;
  {
    const UseAverages averaged(ema);
    EXPECT_TRUE(ema.is_swapped());
    EXPECT_EQ(domain_->stats().allocations, allocations);
    EXPECT_EQ(w.values<float>().data(), data);
    EXPECT_THAT(w.to_vector(), ElementsAre(3, 1.5));
    EXPECT_THAT(average.to_vector(), ElementsAre(5, 5));
    EXPECT_THROW(ema.update(), ValueError);
  }
  EXPECT_FALSE(ema.is_swapped());
  EXPECT_THAT(w.to_vector(), ElementsAre(5, 5));
  EXPECT_THAT(average.to_vector(), ElementsAre(3, 1.5));
  EXPECT_EQ(domain_->stats().live, before);
}

TEST_F(EmaTest, AWarmUpdateAllocatesNothing) {
  const Tensor w = parameter({1, -2});
  const Tensor b = parameter({1});
  Ema ema(named({{"w", w}, {"b", b}}));
  ema.update();
  const auto allocations = domain_->stats().allocations;
  ema.update();
  EXPECT_EQ(domain_->stats().allocations, allocations);
}

TEST_F(EmaTest, IsOptimizerStateOfTheTensorsOwner) {
  const Tensor w = requires_grad_(zeros({100}));
  const Ema ema(named({{"w", w}}));
  EXPECT_EQ(ema.bytes(), 400);
  EXPECT_EQ(live(memory::Category::kOptimizerState, ""), 400);
}

TEST_F(EmaTest, RefusesWhatItCannotAverage) {
  const Tensor w = parameter({1, 2});
  EXPECT_THROW(Ema({}), ValueError);
  EXPECT_THROW(Ema(named({{"w", w}, {"v", w}})), ValueError);
  EXPECT_THROW(Ema(named({{"w", w}}), {.decay = 1.5}), ValueError);
  EXPECT_THROW(Ema(named({{"w", w}}), {.decay = std::nan("")}), ValueError);
  EXPECT_THROW(Ema(named({{"w", zeros({2}, i64)}})), DTypeError);
  Ema ema(named({{"w", w}}));
  EXPECT_THROW(ema.set_update_count(-1), ValueError);
}

}  // namespace
}  // namespace neap::optim
