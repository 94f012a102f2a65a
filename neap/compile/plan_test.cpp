// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/plan.hpp"

#include <gmock/gmock.h>

#include "neap/compile/lower.hpp"
#include "neap/ops/ops.hpp"
#include "neap/planner/validate.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

// x -> a -> b -> c, each of 1024 B: two at a time.
struct Chain : ProgramMaker {
  ValueId x = argument({256});
  ValueId a = call(ops::kExp, {x});
  ValueId b = call(ops::kExp, {a});
  ValueId c = call(ops::kExp, {b});
  Chain() {
    program.results.push_back({all_of(c), false});
    bind(program, threads::serial_executor());
  }
};

TEST(PlanTest, AChainNeedsTwoPlaces) {
  const Chain chain;
  const Plan made = plan(chain.program, 1);
  EXPECT_EQ(made.arena_bytes(), 2048);
  EXPECT_EQ(made.space().lower_bound, 2048);
  EXPECT_TRUE(made.space().is_proven);
  EXPECT_EQ(made.space().live_at_peak, 2048);
  EXPECT_EQ(made.space().peak_call, 1U);
}

TEST(PlanTest, TellsWhatLivesAtThePeak) {
  Chain chain;
  chain.program.respec(chain.a, [](ValueSpec& spec) {
    spec.category = memory::Category::kGradients;
  });
  const Plan made = plan(chain.program, 1);
  ASSERT_EQ(made.at_peak.size(), 2U);
  EXPECT_EQ(made.at_peak[0].value, chain.a);
  EXPECT_EQ(made.at_peak[1].value, chain.b);
  EXPECT_EQ(
      made.by_category[static_cast<std::size_t>(memory::Category::kGradients)],
      1024);
  ASSERT_EQ(made.by_owner.size(), 1U);
  EXPECT_EQ(made.by_owner[0].bytes, 2048);
}

TEST(PlanTest, IsTheSameEveryTime) {
  const Chain chain;
  const Plan one = plan(chain.program, 1);
  const Plan two = plan(chain.program, 1);
  EXPECT_EQ(one.offsets, two.offsets);
}

TEST(PlanTest, WithoutReuseEveryValueHasItsPlace) {
  const Chain chain;
  EXPECT_EQ(plan(chain.program, 1, {.no_reuse = true}).arena_bytes(), 3 * 1024);
}

TEST(PlanTest, IsAcceptedByTheValidator) {
  const Tensor w = randn({64, 64});
  const auto lowered = lower(
      [&](const Tensor& x) {
        Tensor y = x;
        for (int i = 0; i < 6; ++i) {
          y = tanh(matmul(y, w)) + y;
        }
        return sum(y);
      },
      {tensor::Spec{f32, {32, 64}}});
  const SpaceProblem packing =
      problem_of(lowered.plan.lifetimes, memory::kHost);
  planner::Solution solution;
  for (const BufferId id : packing.buffers) {
    solution.offsets.push_back(lowered.plan.offsets[id.value] / kUnit);
  }
  solution.height = lowered.plan.space().bytes / kUnit;
  solution.lower_bound = lowered.plan.space().lower_bound / kUnit;
  EXPECT_TRUE(planner::validate(packing.problem, solution).is_good());
  EXPECT_GT(lowered.plan.arena_bytes(), 0);
}

TEST(PlanTest, LoweringAllocatesNoTensor) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const auto lowered = lower([](const Tensor& x) { return sum(exp(x) * 2.0); },
                             {tensor::Spec{f32, {1'000'000'000, 1'000}}});
  EXPECT_GT(lowered.plan.arena_bytes(), 1'000'000'000'000);
  EXPECT_LT(domain->stats().peak, 16 * kMiB);
}

}  // namespace
}  // namespace neap::compiler
