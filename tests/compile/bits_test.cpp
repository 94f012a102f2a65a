// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Compiled training leaves the bits of eager training, for every subject.
#include <gtest/gtest.h>

#include "neap/base/sanitizer.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

constexpr int kSteps = 10;

// Planning a large network within a limit takes a sanitizer minutes, and
// nothing in it is not in the smaller one of its kind.
bool is_left_to_other_builds(Kind kind) {
  return base::kAddressSanitizer && kind == Kind::kResNet34;
}

class CompiledBitsTest : public ::testing::TestWithParam<Kind> {};

TEST_P(CompiledBitsTest, AreThoseOfEagerStepsForAnyBatchAndNumberOfThreads) {
  for (const std::int64_t batch : {1, 7, 64}) {
    const Trace eager =
        train_eagerly({.kind = GetParam(), .batch = batch}, kSteps);
    EXPECT_NE(eager.losses.front(), eager.losses.back());
    for (const int threads : {1, 2, 3}) {
      EXPECT_EQ(
          train_compiled(
              {.kind = GetParam(), .batch = batch, .threads = threads}, kSteps),
          eager)
          << batch << " samples, " << threads << " threads";
    }
  }
}

TEST_P(CompiledBitsTest, AreThoseOfEagerStepsUnderEveryPlan) {
  const Trace eager = train_eagerly({.kind = GetParam()}, kSteps);
  const auto expect_same = [&](const CompileOptions& how, const char* what) {
    EXPECT_EQ(train_compiled({.kind = GetParam()}, kSteps, how), eager) << what;
  };
  for (bool compiler::Passes::*pass :
       {&compiler::Passes::in_place, &compiler::Passes::fuse,
        &compiler::Passes::gradient_release, &compiler::Passes::reorder}) {
    CompileOptions how;
    how.passes.*pass = false;
    expect_same(how, "without a pass");
  }
  CompileOptions how;
  how.planner.work = 1;
  expect_same(how, "the first plan found");
  how = {};
  how.debug.no_reuse = true;
  expect_same(how, "a place for every value");
  how = {};
  how.debug.poison = true;
  how.debug.guards = true;
  expect_same(how, "poison and guards");
  how = {};
  how.keep_all = true;
  expect_same(how, "kept results");
}

TEST_P(CompiledBitsTest, AreThoseOfEagerStepsOnPagesFromAnywhere) {
  TrainingOptions options{.kind = GetParam(), .batch = large_batch(GetParam())};
  const Trace eager = train_eagerly(options, kSteps);
  for (const int threads : {1, 2, 3}) {
    options.threads = threads;
    EXPECT_EQ(train_compiled(options, kSteps, on_scattered_pages()), eager);
  }
  CompileOptions how = on_scattered_pages();
  how.debug.poison = true;
  how.debug.guards = true;
  EXPECT_EQ(train_compiled(options, kSteps, how), eager);
  Training training(options);
  auto step = training.compile(how);
  step.prepare(training.specs());
  EXPECT_FALSE(step.plan().pages.views.empty());
}

// These networks can meet a limit: a tenth less by all but small networks,
// whose arena is little more than their largest call.
TEST_P(CompiledBitsTest, AreThoseOfEagerStepsInALimitedArena) {
  if (is_left_to_other_builds(GetParam())) {
    GTEST_SKIP() << "the same as ResNet, longer";
  }
  TrainingOptions options{.kind = GetParam(), .batch = 16};
  const Trace eager = train_eagerly(options, kSteps);
  Bytes whole = 0;
  std::int64_t extra = 0;
  for (const int percent : {100, 90, 50, 25}) {
    CompileOptions how;
    how.arena_limit = percent == 100 ? kUnlimited : whole * percent / 100;
    Training training(options);
    auto step = training.compile(how);
    try {
      step.prepare(training.specs());
    } catch (const PlanError&) {
      EXPECT_TRUE(percent < 90 || GetParam() == Kind::kMlp ||
                  GetParam() == Kind::kLeNet);
      continue;
    }
    whole = percent == 100 ? step.arena_bytes() : whole;
    EXPECT_LE(step.arena_bytes(), how.arena_limit);
    const compiler::Fitting& fitting = step.program().fitting;
    EXPECT_GE(fitting.extra, extra) << percent;  // a larger arena costs less
    EXPECT_LE(fitting.bound, fitting.extra) << percent;
    extra = fitting.extra;
    EXPECT_EQ(train(training, step, kSteps), eager) << percent;
    EXPECT_EQ(step.traces(), 1);
  }
}

// A file holds what the arena does not; what that cannot meet is refused.
TEST_P(CompiledBitsTest, AreThoseOfEagerStepsWhereValuesWaitInAFile) {
  if (is_left_to_other_builds(GetParam())) {
    GTEST_SKIP() << "the same as ResNet, longer";
  }
  TrainingOptions options{.kind = GetParam(), .batch = 16};
  const Trace eager = train_eagerly(options, kSteps);
  Training whole(options);
  auto all_kept = whole.compile();
  all_kept.prepare(whole.specs());
  for (const int percent : {60, 25}) {
    options.threads = percent == 60 ? 1 : 2;
    CompileOptions how{.arena_limit = all_kept.arena_bytes() * percent / 100,
                       .spill = {.folder = ".",
                                 .write_rate = 1'000'000'000,
                                 .fetch_rate = 1'000'000'000,
                                 .least = 4 * kKiB}};
    try {
      EXPECT_EQ(train_compiled(options, kSteps, how), eager) << percent;
    } catch (const PlanError&) {
      // Its largest call needs more.
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CompiledBitsTest, ::testing::ValuesIn(kAllKinds),
                         kind_of);

}  // namespace
}  // namespace neap::tests
