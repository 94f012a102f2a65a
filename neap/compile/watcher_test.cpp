// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/watcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "neap/compile/compile.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

class Counter final : public StepWatcher {
 public:
  Counter() noexcept { watch_steps(this); }
  ~Counter() { watch_steps(nullptr); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  void begin() noexcept override { ++running; }
  void end() noexcept override { --running; }
  void planned(const Program& program, const Plan& plan) noexcept override {
    ++plans;
    latest = &program;
    arena = plan.arena_bytes();
  }
  void ran(const Program& program, std::int64_t ns) noexcept override {
    ++runs;
    is_told_first = is_told_first && latest == &program && running == 1;
    least = runs == 1 ? ns : std::min(least, ns);
  }

  void refused(std::string_view why) noexcept override {
    ++refusals;
    is_told_why = why.find("arena") != std::string_view::npos;
  }

  int running = 0;
  int plans = 0;
  int runs = 0;
  int refusals = 0;
  bool is_told_why = false;
  bool is_told_first = true;  // of a program before its run
  const Program* latest = nullptr;
  Bytes arena = 0;
  std::int64_t least = -1;
};

TEST(StepWatcherTest, IsToldOfEachProgramOnceAndOfEveryCall) {
  const Counter counter;
  auto step = compile(doubled);
  const Tensor small = ones({4});
  const Tensor large = ones({1000});
  for (const Tensor* x : {&small, &small, &large, &large, &large}) {
    static_cast<void>(step(*x));
  }
  EXPECT_EQ(counter.plans, 2);
  EXPECT_EQ(counter.runs, 5);
  EXPECT_TRUE(counter.is_told_first);
  EXPECT_EQ(counter.arena, step.plan().arena_bytes());
  EXPECT_GT(counter.least, 0);
  EXPECT_EQ(counter.running, 0);
}

TEST(StepWatcherTest, IsToldOfAPreparedStepAndAgainOnceItHasRun) {
  const Counter counter;
  auto step = compile(doubled);
  const Tensor x = ones({4});
  step.prepare({x.spec()});
  EXPECT_EQ(counter.plans, 1);
  EXPECT_EQ(counter.runs, 0);
  static_cast<void>(step(x));
  static_cast<void>(step(x));
  EXPECT_EQ(counter.plans, 2);
  EXPECT_EQ(counter.runs, 2);
}

TEST(StepWatcherTest, IsNotToldOfCallsThatThrow) {
  const Counter counter;
  auto step = compile([](const Tensor& x) { return matmul(x, x); });
  EXPECT_THROW(static_cast<void>(step(ones({2, 3}))), ShapeError);
  EXPECT_EQ(counter.plans + counter.runs, 0);
  EXPECT_EQ(counter.running, 0);
}

TEST(StepWatcherTest, IsToldWhyThereIsNoPlan) {
  const Counter counter;
  auto step = compile(doubled, {.arena_limit = 64});
  EXPECT_THROW(static_cast<void>(step(ones({1000}))), PlanError);
  EXPECT_EQ(counter.refusals, 1);
  EXPECT_TRUE(counter.is_told_why);
  EXPECT_EQ(counter.plans + counter.runs + counter.running, 0);
}

}  // namespace
}  // namespace neap::compiler
