// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A limited arena is met by calls that run again, to the same bits.
#include "neap/compile/fitting.hpp"

#include <gmock/gmock.h>

#include "neap/compile/deep_chain_for_test.hpp"
#include "neap/compile/fit.hpp"
#include "neap/compile/lower.hpp"

namespace neap::compiler {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kLayers = 14;

constexpr std::int64_t kBatch = 256;

struct Net : DeepChain {
  Net() : DeepChain(kLayers) {}
};

Trained train(const CompileOptions& options) {
  return train_chain(kLayers, kBatch, options);
}

// With and without micro-batches.
TEST(FittingTest, TheSameBitsAtEveryLimit) {
  const Trained whole = train({});
  for (const std::uint32_t micro_batches : {0U, 1U}) {
    std::int64_t extra = 0;
    for (const int percent : {95, 80, 65, 50, 40}) {
      const Bytes limit = whole.arena * percent / 100;
      const Trained some = train(
          {.arena_limit = limit, .passes = {.micro_batches = micro_batches}});
      EXPECT_LE(some.arena, limit) << percent;
      EXPECT_EQ(some.losses, whole.losses) << percent;
      EXPECT_EQ(some.state, whole.state) << percent;
      EXPECT_EQ(some.fitting.limit, limit);
      EXPECT_GT(some.fitting.again + some.fitting.micro_batches, 0U) << percent;
      if (micro_batches == 1) {
        EXPECT_EQ(some.fitting.micro_batches, 0U) << percent;
      }
      EXPECT_GE(some.fitting.extra, extra) << percent;  // never falls
      EXPECT_LE(some.fitting.bound, some.fitting.extra) << percent;
      extra = some.fitting.extra;
    }
  }
}

TEST(FittingTest, ALimitThatIsNoneChangesNothing) {
  const Trained whole = train({});
  const Trained same = train({.arena_limit = whole.arena});
  EXPECT_EQ(same.arena, whole.arena);
  EXPECT_EQ(same.fitting.again, 0U);
  EXPECT_EQ(same.fitting.extra, 0);
  EXPECT_GT(same.fitting.price, 0);
}

TEST(FittingTest, WhatDoesNotFitIsRefusedAndNothingHasChanged) {
  Net net;
  const auto before = net.state();
  auto step = neap::compile(
      net.step(), {.arena_limit = 40 * kKiB, .passes = {.micro_batches = 1}});
  const Tensor x = ones({kBatch, 32});
  const std::string message = message_of([&] { step(x); });
  EXPECT_THAT(message, AllOf(HasSubstr("an arena of 40.0 KiB"),
                             HasSubstr("the least that a plan was found for"),
                             HasSubstr("matmul at"), HasSubstr("alone needs")));
  EXPECT_EQ(net.state(), before);
  EXPECT_EQ(step.arena_bytes(), 0);
  EXPECT_THROW(neap::compile(net.step(), {.arena_limit = -1}), ValueError);
}

TEST(FittingTest, EveryProgramKeepsToTheLimit) {
  Net net;
  auto whole =
      neap::lower(net.step(), {tensor::Spec{DType::kF32, {kBatch, 32}}});
  const Bytes limit = whole.plan.arena_bytes() / 2;
  auto step =
      neap::compile(net.step(), {.max_batch = kBatch, .arena_limit = limit});
  for (const std::int64_t batch : {kBatch, kBatch / 2, kBatch - 1, kBatch}) {
    step(ones({batch, 32}));
    EXPECT_LE(step.arena_bytes(), limit) << batch;
  }
  EXPECT_EQ(step.traces(), 3);
}

// Chains whose curve is of calls that run again, and of micro-batches as well:
// in a long one these take long to search.
struct Chain {
  int layers;
  std::int64_t batch;
  std::uint32_t micro_batches;  // as Passes::micro_batches
};
constexpr std::array kChains{Chain{kLayers, kBatch, 1}, Chain{5, 16, 0}};

void expect_curve_of_limits(const Chain& chain) {
  DeepChain net(chain.layers);
  const Passes passes{.micro_batches = chain.micro_batches};
  const std::array specs{tensor::Spec{DType::kF32, {chain.batch, 32}}};
  const FitCurve curve = fit(net.step(), specs, {.passes = passes});
  ASSERT_GT(curve.size(), 4U);
  EXPECT_EQ(curve.front().arena,
            neap::lower(net.step(), specs).plan.arena_bytes());
  EXPECT_EQ(curve.front().fitting.extra, 0);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    EXPECT_LT(curve[i].arena, curve[i - 1].arena);
    EXPECT_GE(curve[i].fitting.extra, curve[i - 1].fitting.extra);
  }
  for (const std::size_t i : {curve.size() / 2, curve.size() - 1}) {
    const auto limited = neap::lower(
        net.step(), specs, {.arena_limit = curve[i].arena, .passes = passes});
    EXPECT_EQ(limited.plan.arena_bytes(), curve[i].arena);
    EXPECT_EQ(limited.program.fitting.extra, curve[i].fitting.extra);
    EXPECT_EQ(limited.program.fitting.again, curve[i].fitting.again);
  }
  EXPECT_THROW(
      neap::lower(net.step(), specs,
                  {.arena_limit = curve.back().arena - 1, .passes = passes}),
      PlanError);
}

TEST(FittingTest, TheCurveIsWhatEachLimitGives) {
  for (const Chain& chain : kChains) {
    expect_curve_of_limits(chain);
  }
}

TEST(FittingTest, ACurveOfALimitIsTheLowerPartOfTheWhole) {
  DeepChain net(5);
  const std::array specs{tensor::Spec{DType::kF32, {16, 32}}};
  const FitCurve whole = fit(net.step(), specs);
  const std::size_t middle = whole.size() / 2;
  const FitCurve low =
      fit(net.step(), specs, {.arena_limit = whole[middle].arena});
  ASSERT_EQ(low.size(), 1 + whole.size() - middle);
  EXPECT_EQ(low.front().arena, whole.front().arena);
  for (std::size_t i = 1; i < low.size(); ++i) {
    EXPECT_EQ(low[i].arena, whole[middle + i - 1].arena);
    EXPECT_EQ(low[i].fitting.extra, whole[middle + i - 1].fitting.extra);
  }
}

TEST(FittingTest, APredictionHasThePriceWithoutALimitToo) {
  Net net;
  const std::array specs{tensor::Spec{DType::kF32, {kBatch, 32}}};
  const auto kept = neap::lower(net.step(), specs);
  const auto same =
      neap::lower(net.step(), specs, {.arena_limit = kept.plan.arena_bytes()});
  EXPECT_FALSE(kept.prediction.fitting.is_met());
  EXPECT_GT(kept.prediction.fitting.price, 0);
  EXPECT_EQ(kept.prediction.fitting.price, same.prediction.fitting.price);
}

TEST(FittingTest, APlanIsTheSameEveryTime) {
  Net net;
  const std::array specs{tensor::Spec{DType::kF32, {kBatch, 32}}};
  const CompileOptions options{.arena_limit = 400 * kKiB};
  const auto first = neap::lower(net.step(), specs, options);
  const auto second = neap::lower(net.step(), specs, options);
  EXPECT_EQ(value_offsets(first.plan), value_offsets(second.plan));
  EXPECT_EQ(first.program.fitting.extra, second.program.fitting.extra);
  EXPECT_LE(first.plan.arena_bytes(), 400 * kKiB);
}

}  // namespace
}  // namespace neap::compiler
