// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/exit_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>

#include <atomic>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/snapshot_json.hpp"
#include "neap/tensor/create.hpp"

namespace neap::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Tensor doubled(const Tensor& x) {
  return exp(x) * 2.0 + x;
}

class ExitReportTest : public testing::Test {
 protected:
  ~ExitReportTest() override {
    compiler::watch_steps(nullptr);
    graph::watch_updates(nullptr);
  }

  // Trains without a compiled step; each(loss) after each update.
  template <class Each>
  static void train(int steps, const Each& each) {
    nn::Linear layer(8, 4);
    optim::Adam adam(layer.parameters(), {});
    const Tensor x = ones({16, 8});
    for (int i = 0; i < steps; ++i) {
      const Tensor loss = sum(square(layer(x)));
      backward(loss);
      adam.step({.release_gradients = true});
      each(loss);
    }
  }

  Snapshot finish() {
    Snapshot out = report_->finish();
    const auto checked = check_snapshot(out);
    EXPECT_TRUE(checked) << (checked ? "" : checked.error().message);
    return out;
  }

  // A report that has seen nothing yet.
  void SetUp() override {
    compiler::watch_steps(nullptr);
    graph::watch_updates(nullptr);
    const memory::UseDomain use(report_domain());
    report_.emplace(*domain_, "program");
  }
  ExitReport* report() noexcept { return &*report_; }

  const memory::Domain::Handle domain_ =
      memory::Domain::create({.name = "run", .event_capacity = 10'000});

 private:
  std::optional<ExitReport> report_;
  const memory::UseDomain use_{*domain_};
};

TEST_F(ExitReportTest, ShowsTheStepWithTheLargestArenaThatRanLast) {
  compiler::watch_steps(report());
  {
    auto step = compile(doubled);
    const Tensor large = ones({1000});
    for (const std::int64_t size : {10, 1000, 10}) {
      static_cast<void>(step(ones({size})));
    }
    auto other = compile([](const Tensor& x) { return doubled(x) - 1.0; });
    static_cast<void>(other(ones({10})));
    static_cast<void>(step(large));
  }
  const Snapshot s = finish();
  EXPECT_FALSE(s.is_eager);
  EXPECT_EQ(s.title, "program");
  EXPECT_EQ(s.steps.size(), 5U);
  EXPECT_GT(s.steps[0].ns, 0);
  EXPECT_GT(s.steps[0].live, 0);
  EXPECT_GE(s.steps[0].held, s.steps[0].live);
  const auto is_large = [&](const Snapshot::Block& block) {
    return s.text(block.shape) == "[1000]";
  };
  EXPECT_TRUE(std::any_of(s.blocks.begin(), s.blocks.end(), is_large));
  EXPECT_THAT(s.leaks, IsEmpty()) << (s.leaks.empty() ? "" : s.leaks[0]);
}

TEST_F(ExitReportTest, WithoutAStepItShowsTheDomainsEvents) {
  { const Tensor x = exp(ones({1000})); }
  const Snapshot s = finish();
  EXPECT_TRUE(s.is_eager);
  EXPECT_THAT(std::string(s.title), HasSubstr("program, domain run, "));
  EXPECT_EQ(s.sums.live_at_peak, domain_->stats().live_peak);
  EXPECT_THAT(s.leaks, IsEmpty()) << (s.leaks.empty() ? "" : s.leaks[0]);
  EXPECT_THAT(s.steps, IsEmpty());
}

TEST_F(ExitReportTest, ALeakIsATextWithItsHolders) {
  const Tensor kept = ones({10, 100});
  const Tensor other = ones({7});
  const Snapshot s = finish();
  ASSERT_EQ(s.leaks.size(), 4U);  // two of values, two of handles
  EXPECT_THAT(std::string(s.leaks[0]),
              AllOf(HasSubstr("leak: 4 000 B in 1 block of "),
                    HasSubstr("exit_report_test.cpp:"),
                    HasSubstr("\n      held by 1 handle of the tensor")));
  EXPECT_THAT(std::string(s.leaks[1]), HasSubstr("leak: 28 B "));
}

// To hold the tensors of a step that is traced would end its trace.
TEST_F(ExitReportTest, WhereAStepIsRunningHoldersAreLeftOut) {
  const Tensor kept = ones({10, 100});
  report()->begin();
  const Snapshot s = finish();
  ASSERT_EQ(s.leaks.size(), 2U);
  EXPECT_THAT(std::string(s.leaks[0]), HasSubstr("leak: 4 000 B in 1 block"));
  EXPECT_THAT(std::string(s.leaks[0]), Not(HasSubstr("held by")));
}

TEST_F(ExitReportTest, WhatGrowsFromStepToStepIsATextOfItsOwn) {
  compiler::watch_steps(report());
  std::vector<Tensor> losses;
  losses.reserve(20);
  auto step = compile([](const Tensor& x) { return sum(x); });
  const Tensor x = ones({1000});
  for (int i = 0; i < 20; ++i) {
    losses.push_back(step(x) + 1.0);
  }
  const Snapshot s = finish();
  ASSERT_FALSE(s.leaks.empty());
  EXPECT_THAT(std::string(s.leaks.back()),
              AllOf(HasSubstr("growth: "), HasSubstr("in 16 steps")));
  EXPECT_GT(s.steps[19].live, s.steps[10].live);
}

TEST_F(ExitReportTest, AnEagerProgramGrowsFromUpdateToUpdate) {
  graph::watch_updates(report());
  std::vector<Tensor> losses;
  losses.reserve(20);
  train(20, [&](const Tensor& loss) { losses.push_back(loss + 1.0); });
  const Snapshot s = finish();
  EXPECT_TRUE(s.is_eager);
  ASSERT_FALSE(s.leaks.empty());
  EXPECT_THAT(std::string(s.leaks.back()),
              AllOf(HasSubstr("growth: "), HasSubstr("in 16 steps"),
                    HasSubstr("exit_report_test.cpp:")));
  ASSERT_EQ(s.steps.size(), 20U);
  for (std::size_t i = 10; i < 20; ++i) {
    EXPECT_GT(s.steps[i].live, s.steps[i - 1].live);
    EXPECT_GT(s.steps[i].peak, s.steps[i].live);
  }
}

TEST_F(ExitReportTest, AnEagerProgramThatIsFlatOrWarmsUpDoesNotGrow) {
  graph::watch_updates(report());
  std::vector<Tensor> cache;
  cache.reserve(5);
  train(20, [&](const Tensor& loss) {
    if (cache.size() < 5) {
      cache.push_back(loss.detach() + 1.0);
    }
  });
  cache.clear();
  const Snapshot s = finish();
  EXPECT_EQ(s.steps.size(), 20U);
  EXPECT_THAT(s.leaks, IsEmpty()) << (s.leaks.empty() ? "" : s.leaks[0]);
}

// Trains layers that have an optimizer each.
void train_by_many(int steps) {
  std::vector<nn::Linear> layers;
  std::deque<optim::Adam> optimizers;
  layers.reserve(12);
  for (int i = 0; i < 12; ++i) {
    layers.emplace_back(8, 8);
    optimizers.emplace_back(layers.back().parameters(), optim::AdamOptions{});
  }
  const Tensor x = ones({16, 8});
  for (int step = 0; step < steps; ++step) {
    Tensor y = x;
    for (const nn::Linear& layer : layers) {
      y = layer(y);
    }
    backward(sum(square(y)));
    for (optim::Adam& adam : optimizers) {
      adam.step({.release_gradients = true});
    }
  }
}

// A model whose layers have an optimizer each creates their state one by one.
TEST_F(ExitReportTest, FirstStatesOfOptimizersAreNoGrowth) {
  for (const int steps : {1, 2, 3, 5}) {
    SetUp();
    graph::watch_updates(report());
    train_by_many(steps);
    const Snapshot s = finish();
    EXPECT_EQ(s.steps.size(), static_cast<std::size_t>(steps));
    EXPECT_EQ(s.sums.compared, std::max(0, steps - 4));
    EXPECT_EQ(s.sums.step_kind, Snapshot::StepKind::kUpdate);
    EXPECT_THAT(s.leaks, IsEmpty()) << (s.leaks.empty() ? "" : s.leaks[0]);
  }
}

// A program that does not train calls its model once a step.
TEST_F(ExitReportTest, CallsOfAModelAreTheStepsWhereNothingUpdates) {
  graph::watch_updates(report());
  std::vector<Tensor> results;
  results.reserve(20);
  {
    const NoGrad guard;
    const nn::Linear first(8, 8);
    const nn::Linear second(8, 4);
    const Tensor x = ones({16, 8});
    for (int i = 0; i < 20; ++i) {
      results.push_back(second(relu(first(x))));
    }
  }
  const Snapshot s = finish();
  EXPECT_EQ(s.sums.step_kind, Snapshot::StepKind::kCall);
  EXPECT_EQ(s.steps.size(), 20U);
  EXPECT_EQ(s.sums.compared, 16);
  ASSERT_FALSE(s.leaks.empty());
  EXPECT_THAT(std::string(s.leaks.back()), HasSubstr("in 16 steps after 3"));
}

TEST_F(ExitReportTest, UpdatesTakeThePlaceOfCallsAndNestedCallsAreNone) {
  graph::watch_updates(report());
  {
    const NoGrad guard;
    const nn::Sequential model(nn::Linear(8, 8), nn::ReLU(), nn::Linear(8, 4));
    for (int i = 0; i < 7; ++i) {
      static_cast<void>(model(ones({16, 8})));
    }
    EXPECT_THROW(static_cast<void>(model(ones({16, 9}))), ShapeError);
  }
  std::vector<Tensor> losses;
  losses.reserve(20);
  train(9, [&](const Tensor& loss) { losses.push_back(loss + 1.0); });
  const Snapshot s = finish();
  EXPECT_EQ(s.sums.step_kind, Snapshot::StepKind::kUpdate);
  EXPECT_EQ(s.steps.size(), 9U);
  EXPECT_EQ(s.sums.compared, 5);
  ASSERT_FALSE(s.leaks.empty());
  EXPECT_THAT(std::string(s.leaks.back()), HasSubstr("in 5 steps after 3"));
}

TEST_F(ExitReportTest, FewStepsSayNothingOfGrowth) {
  for (const int steps : {5, 6, 7}) {
    SetUp();
    graph::watch_updates(report());
    std::vector<Tensor> losses;
    losses.reserve(10);
    train(steps, [&](const Tensor& loss) { losses.push_back(loss + 1.0); });
    const Snapshot s = finish();
    const bool is_told =
        !s.leaks.empty() && s.leaks.back().starts_with("growth");
    EXPECT_EQ(is_told, steps == 7) << steps;
  }
}

// The log has the latest events alone.
TEST_F(ExitReportTest, ARefusalOfLongAgoIsNotForgotten) {
  graph::watch_updates(report());
  int step = 0;
  train(60, [&](const Tensor& /*loss*/) {
    if (++step == 3) {
      domain_->fail_at(1);
      EXPECT_THROW(ones({10}), OutOfMemory);
    }
    for (int i = 0; i < 400; ++i) {
      const Tensor x = ones({1});
    }
  });
  const Snapshot s = finish();
  ASSERT_EQ(s.refusals.size(), 1U);
  EXPECT_THAT(std::string(s.refusals[0]), HasSubstr("were refused at event "));
}

TEST_F(ExitReportTest, CompiledStepsAreComparedInsteadOfUpdates) {
  graph::watch_updates(report());
  compiler::watch_steps(report());
  std::vector<Tensor> losses;
  losses.reserve(20);
  train(6, [&](const Tensor& loss) { losses.push_back(loss + 1.0); });
  {
    auto step = compile(doubled);
    const Tensor x = ones({100});
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(step(x));
    }
    train(6, [&](const Tensor& loss) { losses.push_back(loss + 1.0); });
  }
  losses.clear();
  const Snapshot s = finish();
  EXPECT_FALSE(s.is_eager);
  EXPECT_EQ(s.steps.size(), 10U);
  EXPECT_THAT(s.leaks, IsEmpty()) << (s.leaks.empty() ? "" : s.leaks[0]);
}

TEST_F(ExitReportTest, AStepHasTheMostThatWasLiveInIt) {
  graph::watch_updates(report());
  std::size_t steps = 0;
  Bytes live = 0;
  train(8, [&](const Tensor& /*loss*/) {
    live = domain_->stats().live;
    if (++steps == 4) {
      const Tensor large = ones({100'000});  // of the fifth step
    }
  });
  const Snapshot s = finish();
  ASSERT_EQ(s.steps.size(), 8U);
  for (std::size_t i = 1; i < 8; ++i) {
    EXPECT_GE(s.steps[i].peak, s.steps[i].live);
    EXPECT_EQ(s.steps[i].peak > live + 400'000, i == 4) << i;
  }
  EXPECT_EQ(s.steps[4].peak, domain_->stats().live_peak);
}

TEST_F(ExitReportTest, ABudgetThatNoPlanMeetsIsARefusal) {
  compiler::watch_steps(report());
  auto small = compile(doubled);
  static_cast<void>(small(ones({10})));
  auto step = compile(doubled, {.arena_limit = 64});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(static_cast<void>(step(ones({1000}))), PlanError);
  }
  const Snapshot s = finish();
  ASSERT_EQ(s.refusals.size(), 1U);
  EXPECT_THAT(std::string(s.refusals[0]), HasSubstr("arena"));
}

TEST_F(ExitReportTest, RefusalsOfAStepAreSentences) {
  compiler::watch_steps(report());
  {
    auto step = compile(doubled);
    static_cast<void>(step(ones({10})));
    domain_->fail_at(1);
    EXPECT_THROW(ones({10}), OutOfMemory);
  }
  const Snapshot s = finish();
  EXPECT_FALSE(s.is_eager);
  ASSERT_EQ(s.refusals.size(), 1U);
  EXPECT_THAT(std::string(s.refusals[0]), HasSubstr("were refused at event "));
}

TEST_F(ExitReportTest, StepsMayRunWhileItIsFinished) {
  compiler::watch_steps(report());
  std::atomic<bool> is_over{false};
  std::atomic<bool> has_run{false};
  std::thread trainer([&] {
    const memory::UseDomain use(*domain_);
    auto step = compile(doubled);
    const Tensor x = ones({100});
    while (!is_over) {
      static_cast<void>(step(x));
      has_run = true;
    }
  });
  while (!has_run) {
    std::this_thread::yield();
  }
  const Snapshot s = finish();
  is_over = true;
  trainer.join();
  EXPECT_FALSE(s.is_eager);
}

}  // namespace
}  // namespace neap::report
