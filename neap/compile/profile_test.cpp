// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/profile.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "compile_for_test.hpp"
#include "neap/compile/compile.hpp"
#include "neap/compile/costs.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

TEST(ProfileTest, HasTheLeastTimeOfEachCall) {
  auto step =
      neap::compile([](const Tensor& x) { return sum(matmul(x, x) + exp(x)); });
  const Tensor x = rand({64, 64});
  const Profile profile = step.profile({.runs = 3}, x);
  EXPECT_EQ(profile.runs, 3);
  ASSERT_EQ(profile.ns.size(), step.program().calls.size());
  std::int64_t sum = 0;
  for (const std::int64_t ns : profile.ns) {
    EXPECT_GE(ns, 0);
    sum += ns;
  }
  // The least of each run's sums is no less than the sum of the least.
  EXPECT_GE(profile.whole, sum);
}

TEST(ProfileTest, RunsAreStepsAndGiveTheSameBits) {
  Tensor state = zeros({3});
  auto step = neap::compile([&](const Tensor& x) { add_(state, x); });
  const Tensor x = full({3}, 2.0);
  static_cast<void>(step.profile({.runs = 4}, x));
  EXPECT_EQ(state.values<float>()[0], 10.0F);  // one to warm up, and four
  step(x);
  EXPECT_EQ(state.values<float>()[2], 12.0F);
}

TEST(ProfileTest, EndsWithItsRuns) {
  auto step = neap::compile([](const Tensor& x) { return exp(x); });
  const Tensor x = rand({8});
  const Profile profile = step.profile({.runs = 1}, x);
  const Profile copy = profile;
  step(x);
  EXPECT_EQ(profile.runs, copy.runs);
  EXPECT_EQ(profile.ns, copy.ns);
}

TEST(ProfileTest, RefusesNoRunAndAnotherProgram) {
  auto step = neap::compile([](const Tensor& x) { return exp(x); });
  const Tensor x = rand({8});
  EXPECT_THROW(static_cast<void>(step.profile({.runs = 0}, x)), ValueError);
  Profile profile;
  step.set_profile(&profile);
  step(x);
  step(rand({9}));  // another program: not counted
  step.set_profile(nullptr);
  step(x);
  EXPECT_EQ(profile.runs, 1);
  EXPECT_THROW(check_whole(profile, {.runs = 2}), ValueError);
  EXPECT_NO_THROW(check_whole(profile, {.runs = 1}));
}

TEST(ProfileTest, AProgramAfterAResetIsAnother) {
  int layers = 2;
  auto step = neap::compile([&](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < layers; ++i) {
      y = exp(y);
    }
    return y;
  });
  const Tensor x = rand({8});
  Profile profile;
  step.set_profile(&profile);
  step(x);
  for (int i = 0; i < 8; ++i) {  // some lie where the first did
    layers = 2 + i % 3;
    step.reset();
    step(x);
  }
  step.set_profile(nullptr);
  EXPECT_EQ(profile.runs, 1);
}

TEST(ProfileTest, ADebugModeHasNoTimes) {
  CompileOptions how;
  how.debug.guards = true;
  auto step = neap::compile([](const Tensor& x) { return exp(x); }, how);
  EXPECT_THROW(static_cast<void>(step.profile({.runs = 2}, rand({8}))),
               ValueError);
}

TEST(ProfileTest, SharesAreOfTheLimitThatTakesLonger) {
  const MachineLimits limits{.flops = 4e9, .bytes = 1e9};
  EXPECT_DOUBLE_EQ(share_of(limits, 2'000'000, 0, 1'000'000), 50.0);
  EXPECT_DOUBLE_EQ(share_of(limits, 2'000'000, 900'000, 1'000'000), 90.0);
  EXPECT_DOUBLE_EQ(share_of(limits, 0, 0, 1'000'000), 0.0);
  EXPECT_LT(share_of(limits, 8, 8, -1), 0.0);
  EXPECT_LT(share_of(limits, 8, 8, 0), 0.0);
  EXPECT_LT(share_of({}, 8, 8, 1000), 0.0);
  EXPECT_LT(share_of({.flops = 1.0}, 8, 8, 1000), 0.0);
}

TEST(ProfileTest, EachCallHasItsShare) {
  auto step =
      neap::compile([](const Tensor& x) { return sum(matmul(x, x) + exp(x)); });
  Profile profile = step.profile({.runs = 2}, rand({64, 64}));
  for (const double share : profile.shares(step.program())) {
    EXPECT_LT(share, 0.0);  // of nothing
  }
  profile.limits = {.flops = 1e9, .bytes = 1e9};
  const auto costs = costs_of(step.program());
  const auto shares = profile.shares(step.program());
  ASSERT_EQ(shares.size(), costs.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_DOUBLE_EQ(shares[i], share_of(profile.limits, costs[i].flops,
                                         costs[i].moved, profile.ns[i]));
  }
  auto other = neap::compile([](const Tensor& x) { return exp(x); });
  other(rand({8}));
  EXPECT_THROW(static_cast<void>(profile.shares(other.program())), ValueError);
}

TEST(ProfileTest, SharesAreNotOfAsManyCallsOfAnotherProgram) {
  const auto twice = [](const Tensor& x) { return exp(matmul(x, x)); };
  auto small = neap::compile(twice);
  auto large = neap::compile(twice);
  const Profile profile = small.profile({.runs = 1}, rand({8, 8}));
  large(rand({16, 16}));
  ASSERT_EQ(profile.ns.size(), large.program().calls.size());
  EXPECT_THROW(static_cast<void>(profile.shares(large.program())), ValueError);
}

TEST(CostsTest, CountTheWorkOfAProduct) {
  auto step = neap::compile([](const Tensor& x) { return matmul(x, x); });
  step(rand({8, 8}));
  const auto costs = costs_of(step.program());
  const auto work = std::accumulate(
      costs.begin(), costs.end(), std::int64_t{0},
      [](std::int64_t sum, const CallCost& cost) { return sum + cost.flops; });
  EXPECT_EQ(work, 2 * 8 * 8 * 8);
}

}  // namespace
}  // namespace neap::compiler
