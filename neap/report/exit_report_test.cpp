// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/exit_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>

#include <atomic>
#include <thread>
#include <vector>

#include "neap/compile/compile.hpp"
#include "neap/ops/ops.hpp"
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
  ~ExitReportTest() override { compiler::watch_steps(nullptr); }

  Snapshot finish() {
    Snapshot out = report_.finish();
    const auto checked = check_snapshot(out);
    EXPECT_TRUE(checked) << (checked ? "" : checked.error().message);
    return out;
  }

  const memory::Domain::Handle domain_ =
      memory::Domain::create({.name = "run", .event_capacity = 10'000});

 private:
  const memory::UseDomain reports_{report_domain()};

 protected:
  ExitReport report_{*domain_, "program"};

 private:
  const memory::UseDomain use_{*domain_};
};

TEST_F(ExitReportTest, ShowsTheStepWithTheLargestArenaThatRanLast) {
  compiler::watch_steps(&report_);
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
  report_.begin();
  const Snapshot s = finish();
  ASSERT_EQ(s.leaks.size(), 2U);
  EXPECT_THAT(std::string(s.leaks[0]), HasSubstr("leak: 4 000 B in 1 block"));
  EXPECT_THAT(std::string(s.leaks[0]), Not(HasSubstr("held by")));
}

TEST_F(ExitReportTest, WhatGrowsFromStepToStepIsATextOfItsOwn) {
  compiler::watch_steps(&report_);
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

TEST_F(ExitReportTest, RefusalsOfAStepAreSentences) {
  compiler::watch_steps(&report_);
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
  compiler::watch_steps(&report_);
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
