// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/scheduling.hpp"

#include <gmock/gmock.h>

#include <array>

#include "neap/budget/evaluate.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/rewrite.hpp"
#include "neap/program/run_for_test.hpp"

namespace neap::compiler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Bytes kSize = 16 * 16 * 4;

budget::Problem problem_of_test(const Program& program) {
  const memory::Vector<std::int64_t> prices(program.calls.size(), 10);
  return scheduling_problem(program, prices);
}

// exp(x) is read by the second call and by the last.
struct Step {
  Step() : x(maker.argument({16, 16})) {
    kept = maker.call(ops::kExp, {x});
    const ValueId product = maker.call(ops::kMatmul, {kept, x});
    const ValueId wide = maker.call(ops::kMatmul, {product, product});
    last = maker.call(ops::kMul, {wide, kept});
  }
  ProgramMaker maker;
  ValueId x;
  ValueId kept;
  ValueId last;
};

// Once more, right before the last call.
budget::Schedule again_before_the_last() {
  budget::Schedule schedule;
  schedule.drops = {0, 1, 2, 0};
  schedule.runs = {{.index = 0, .drops_end = 0},
                   {.index = 1, .drops_end = 1},
                   {.index = 2, .drops_end = 2},
                   {.index = 0, .drops_end = 2},
                   {.index = 3, .drops_end = 4}};
  return schedule;
}

TEST(SchedulingTest, AProgramsCallsAndMemoriesAreTheProblems) {
  Step step;
  step.maker.result(step.last);
  const budget::Problem problem = problem_of_test(step.maker.program);
  ASSERT_EQ(problem.calls.size(), 4U);
  ASSERT_EQ(problem.values.size(), 4U);
  EXPECT_THAT(problem.calls[0].reads, IsEmpty());  // the argument is outside
  EXPECT_THAT(problem.calls[0].makes, ElementsAre(0));
  EXPECT_THAT(problem.calls[2].reads, ElementsAre(1));
  EXPECT_THAT(problem.calls[3].reads, ElementsAre(2, 0));
  EXPECT_EQ(problem.values[0].size, kSize);
  EXPECT_FALSE(problem.values[0].outlives);
  EXPECT_TRUE(problem.values[3].outlives);
  EXPECT_EQ(problem.calls[3].price, 10);
  EXPECT_EQ(problem.calls[0].again_until, budget::kAlways);
  // mul writes over either of its inputs, a product over none.
  EXPECT_THAT(problem.calls[2].take_overs, IsEmpty());
  EXPECT_EQ(problem.calls[3].take_overs.size(), 2U);
}

TEST(SchedulingTest, WhatReadsAWeightMayRunAgainUntilItsUpdate) {
  Step step;
  const ValueId w = step.maker.parameter({16, 16});
  const ValueId product = step.maker.call(ops::kMatmul, {step.last, w});
  step.maker.update(w, product);
  const budget::Problem problem = problem_of_test(step.maker.program);
  EXPECT_EQ(problem.calls[4].again_until, 5);
  EXPECT_EQ(problem.calls[5].again_until, budget::kNever);  // the update
  EXPECT_THAT(problem.calls[5].makes, IsEmpty());
}

TEST(SchedulingTest, ChecksAndMakersOfBlocksOfTheirOwnRunOnce) {
  Step step;
  step.maker.check(step.kept);
  step.maker.result(step.last, true);
  const budget::Problem problem = problem_of_test(step.maker.program);
  EXPECT_EQ(problem.calls[3].again_until, budget::kNever);
  EXPECT_EQ(problem.calls[4].again_until, budget::kNever);
  EXPECT_EQ(problem.values.size(), 3U);  // the kept result is not the arena's
}

TEST(SchedulingTest, WhatIsWrittenOverIsOneMemoryAndMadeOnce) {
  ProgramMaker maker;
  const ValueId x = maker.argument({16, 16});
  const ValueId made = maker.call(ops::kExp, {x});
  const ValueId reader = maker.call(ops::kMatmul, {made, made});
  Call call;
  call.name = "sgd";
  call.kernels = &kernels::sgd_kernels;
  call.listener = &maker.listener;
  call.reads_outputs = true;
  const ValueId written =
      maker.write(call, made, {reader}, kernels::SgdAttrs{});
  maker.result(maker.call(ops::kMatmul, {written, reader}));
  const budget::Problem problem = problem_of_test(maker.program);
  EXPECT_EQ(problem.values.size(), 3U);
  EXPECT_EQ(problem.calls[0].again_until, budget::kNever);
  EXPECT_EQ(problem.calls[1].again_until, 2);  // then it reads other elements
  EXPECT_EQ(problem.calls[2].again_until, budget::kNever);
  EXPECT_THAT(problem.calls[2].reads, ElementsAre(0, 1));
  EXPECT_THAT(problem.calls[2].makes, IsEmpty());
  EXPECT_THAT(problem.calls[3].reads, ElementsAre(0, 1));
}

TEST(SchedulingTest, AScheduleBecomesAProgramOfTheSameBits) {
  Step step;
  step.maker.result(step.last);
  const std::array x{full({16, 16}, 0.01)};
  TestRun before(step.maker.program, x);
  const auto expected = before.run();
  const budget::Schedule schedule = again_before_the_last();
  EXPECT_TRUE(budget::evaluate(problem_of_test(step.maker.program), schedule)
                  .is_good());
  materialise(step.maker.program, schedule);
  EXPECT_EQ(fault_of(step.maker.program), "");
  EXPECT_EQ(names_of(step.maker.program), "exp matmul matmul exp mul");
  tidy(step.maker.program);
  EXPECT_EQ(fault_of(step.maker.program), "");
  TestRun after(step.maker.program, x);
  EXPECT_EQ(after.run(), expected);
}

TEST(SchedulingTest, ResultsAreThoseOfTheLatestRun) {
  Step step;
  step.maker.result(step.kept);
  step.maker.result(step.last);
  const std::array x{full({16, 16}, 0.01)};
  TestRun before(step.maker.program, x);
  const auto expected = before.run();
  budget::Schedule schedule = again_before_the_last();
  schedule.drops.pop_back();
  schedule.runs.back().drops_end = 3;
  materialise(step.maker.program, schedule);
  EXPECT_EQ(fault_of(step.maker.program), "");
  EXPECT_NE(step.maker.program.results[0].operand.value, step.kept);
  TestRun after(step.maker.program, x);
  EXPECT_EQ(after.run(), expected);
}

// exp(x) waits in the file while the products are made.
budget::Schedule spilled_meanwhile() {
  using budget::Action;
  budget::Schedule schedule;
  schedule.drops = {0, 1, 2, 0};
  schedule.runs = {{.index = 0, .drops_end = 0},
                   {.index = 0, .drops_end = 0, .action = Action::kWrite},
                   {.index = 1, .drops_end = 1},
                   {.index = 2, .drops_end = 2},
                   {.index = 0, .drops_end = 2, .action = Action::kFetch},
                   {.index = 3, .drops_end = 4}};
  return schedule;
}

TEST(SchedulingTest, WhatIsSpilledIsAwaitedBeforeItGoesAndBeforeItIsRead) {
  Step step;
  step.maker.result(step.last);
  const std::array x{full({16, 16}, 0.01)};
  TestRun before(step.maker.program, x);
  const auto expected = before.run();
  const budget::Schedule schedule = spilled_meanwhile();
  const memory::Vector<std::int64_t> prices(step.maker.program.calls.size(),
                                            10);
  const budget::Channel channel{.write_rate = 1'000'000,
                                .read_rate = 1'000'000};
  const budget::Problem problem =
      scheduling_problem(step.maker.program, prices, channel);
  EXPECT_TRUE(problem.values[0].may_spill);
  EXPECT_TRUE(budget::evaluate(problem, schedule).is_good());
  materialise(step.maker.program, schedule);
  EXPECT_EQ(fault_of(step.maker.program), "");
  EXPECT_EQ(names_of(step.maker.program),
            "exp spill await matmul matmul fetch await mul");
  EXPECT_EQ(step.maker.program.slots.size(), 1U);
  EXPECT_EQ(step.maker.program.slots[0].size, kSpillUnit);
  run_memory_passes(step.maker.program, {});
  EXPECT_EQ(fault_of(step.maker.program), "");
  TestRun after(step.maker.program, x);
  EXPECT_EQ(after.run(), expected);
}

TEST(SchedulingTest, SmallValuesAndBlocksOfTheirOwnAreNotSpilled) {
  Step step;
  step.maker.result(step.last, true);
  const memory::Vector<std::int64_t> prices(4, 10);
  const budget::Channel channel{.write_rate = 1, .read_rate = 1};
  for (const Bytes least : {kSize, kSize + 1}) {
    const budget::Problem problem =
        scheduling_problem(step.maker.program, prices, channel, least);
    EXPECT_EQ(problem.values.size(), 3U);
    for (const budget::Value& value : problem.values) {
      EXPECT_EQ(value.may_spill, least == kSize);
    }
  }
}

TEST(SchedulingTest, FusedCallsRunAgainWithPartsOfTheirOwn) {
  ProgramMaker maker;
  const ValueId x = maker.argument({16, 16});
  const ValueId inner = maker.call(ops::kExp, {x});
  const ValueId kept = maker.call(ops::kMul, {inner, x});
  const ValueId product = maker.call(ops::kMatmul, {kept, x});
  const ValueId wide = maker.call(ops::kMatmul, {product, product});
  maker.result(maker.call(ops::kMatmul, {wide, kept}));
  fuse_elementwise(maker.program);
  ASSERT_EQ(names_of(maker.program), "fused matmul matmul matmul");
  const std::array argument{full({16, 16}, 0.01)};
  TestRun before(maker.program, argument);
  const auto expected = before.run();
  materialise(maker.program, again_before_the_last());
  EXPECT_EQ(fault_of(maker.program), "");
  EXPECT_EQ(names_of(maker.program), "fused matmul matmul fused matmul");
  tidy(maker.program);
  EXPECT_EQ(fault_of(maker.program), "");
  TestRun after(maker.program, argument);
  EXPECT_EQ(after.run(), expected);
}

}  // namespace
}  // namespace neap::compiler
