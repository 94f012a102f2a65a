// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that asked how much memory is live, how many members scopes have, or
// what the graph of a tensor of before looks like went on with the answer of
// its trace.
#include <gmock/gmock.h>

#include <array>

#include "neap/autograd/backward.hpp"
#include "neap/graph/inspect.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/budget.hpp"
#include "neap/memory/scope.hpp"
#include "neap/memory/scope_stats.hpp"
#include "neap/report/memory_table.hpp"
#include "step_questions.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class StepAsksForFiguresTest : public ::testing::Test {
 protected:
  template <class Ask>
  static void expect_refused(const Ask& ask, const char* function) {
    expect_question_refused(ask, function);
  }

  Tensor x_ = full({2}, 1.0);
};

TEST_F(StepAsksForFiguresTest, FiguresOfADomainAreRefused) {
  Domain& domain = memory::domain();
  std::array<memory::Row, 4> rows;
  std::array<memory::Event, 4> events;
  expect_refused([&] { return domain.stats().live > 0; }, "stats:");
  expect_refused([&] { return domain.live_rows(rows) > 0; }, "live_rows:");
  expect_refused([&] { return domain.peak_rows(rows) > 0; }, "peak_rows:");
  expect_refused([&] { return domain.events(events) == 0; }, "events:");
  expect_refused([&] { return domain.budget() > 0; }, "budget:");
  expect_refused([&] { return domain.requests() > 0; }, "requests:");
}

TEST_F(StepAsksForFiguresTest, CountsOfMembersAreRefused) {
  expect_refused([] { return memory::scope_stats().live > 0; }, "scope_stats:");
  expect_refused([] { return memory::process_scope_stats().live > 0; },
                 "process_scope_stats:");
  expect_refused([] { return !memory::live_members().empty(); },
                 "live_members:");
}

TEST_F(StepAsksForFiguresTest, ATableOfMemoryIsRefused) {
  expect_refused(
      [] {
        return report::breakdown(memory::domain(), report::Instant::kNow).live >
               0;
      },
      "live_rows:");
}

// The door's own errors are made of the same figures.
TEST_F(StepAsksForFiguresTest, MemoryThatATraceLacksIsNoQuestion) {
  auto step = neap::compile([](const Tensor& x) {
    return x + from_values({1, 2}, {2});
  });
  memory::domain().fail_at(1);
  EXPECT_THROW(step(x_), OutOfMemory);
  memory::domain().fail_at(0);
  EXPECT_THAT(floats(step(x_)), ::testing::ElementsAre(2.0F, 3.0F));
}

TEST_F(StepAsksForFiguresTest, WhatIsSeenOfALeafIsAGuard) {
  Tensor w = requires_grad_(full({2}, 3.0));
  const Tensor other = requires_grad_(full({2}, 4.0));
  set_grad(other, x_);
  auto step = neap::compile([&](const Tensor& x) {
    return graph::inspect(w).has_grad ? x * 2.0 : x * 3.0;
  });
  EXPECT_THAT(floats(step(x_)), Each(3.0F));
  set_grad(w, x_);
  EXPECT_THAT(floats(step(x_)), Each(2.0F));
  set_grad(w, Tensor());
  EXPECT_THAT(floats(step(x_)), Each(3.0F));
  w = other;
  EXPECT_THAT(floats(step(x_)), Each(2.0F));
}

TEST_F(StepAsksForFiguresTest, TheGraphOfAResultOfBeforeIsRefused) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  const Tensor loss = sum(w * x_);
  expect_refused(
      [&] {
        return graph::inspect(loss).standing == graph::Standing::kAvailable;
      },
      "inspect:");
  expect_refused([&] { return graph::measure(loss).nodes > 0; }, "measure:");
}

TEST_F(StepAsksForFiguresTest, TheGraphThatTheStepRecordsMayBeLookedAt) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  const auto function = [&](const Tensor& x) {
    const Tensor y = sum(w * x);
    const auto nodes = static_cast<double>(graph::measure(y).nodes);
    const bool is_there =
        graph::inspect(y).standing == graph::Standing::kAvailable;
    return (is_there ? y * nodes : y).detach();
  };
  const float expected = floats(function(x_))[0];
  auto step = neap::compile(function);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(floats(step(x_)), Each(expected));
  }
}

}  // namespace
}  // namespace neap::compiler
