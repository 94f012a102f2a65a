// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/lifetimes.hpp"

#include <gmock/gmock.h>

#include "neap/ops/ops.hpp"
#include "neap/program/programs_for_test.hpp"

namespace neap::compiler {
namespace {

const Buffer& buffer_of(const Lifetimes& all, ValueId id) {
  return all.at(id);
}

// x -> exp -> a -> exp -> b, a result.
struct Chain : ProgramMaker {
  ValueId x = argument({4});
  ValueId a = call(ops::kExp, {x});
  ValueId b = call(ops::kExp, {a});
  Chain() { program.results.push_back({all_of(b), false}); }
};

TEST(LifetimesTest, AValueLivesFromItsCallToItsLastUse) {
  const Chain chain;
  const Lifetimes all = lifetimes(chain.program);
  EXPECT_EQ(buffer_of(all, chain.a).first, 0U);
  EXPECT_EQ(buffer_of(all, chain.a).last, 1U);
  EXPECT_EQ(buffer_of(all, chain.a).where, Where::kArena);
}

TEST(LifetimesTest, AResultLivesBeyondTheLastCall) {
  const Chain chain;
  EXPECT_EQ(buffer_of(lifetimes(chain.program), chain.b).last, 2U);
}

TEST(LifetimesTest, ArgumentsAndKeptResultsLieOutside) {
  Chain chain;
  chain.program.results[0].is_kept = true;
  const Lifetimes all = lifetimes(chain.program);
  EXPECT_EQ(buffer_of(all, chain.x).where, Where::kArgument);
  EXPECT_EQ(buffer_of(all, chain.b).where, Where::kOwn);
  EXPECT_EQ(all.own_blocks, 1U);
}

TEST(LifetimesTest, ValuesOverOneAnotherShareABuffer) {
  Chain chain;
  chain.program[chain.b].over = chain.a;
  const Lifetimes all = lifetimes(chain.program);
  EXPECT_EQ(all.buffer_of[chain.a.value], all.buffer_of[chain.b.value]);
  EXPECT_EQ(buffer_of(all, chain.a).last, 2U);
}

TEST(LifetimesTest, WithoutReuseWhatWasTakenOverIsNot) {
  Chain chain;
  chain.program[chain.b].over = chain.a;
  const Lifetimes all = lifetimes(chain.program, {.no_reuse = true});
  EXPECT_NE(all.buffer_of[chain.a.value], all.buffer_of[chain.b.value]);
  EXPECT_EQ(buffer_of(all, chain.a).first, 0U);
  EXPECT_EQ(buffer_of(all, chain.a).last, 2U);
}

TEST(LifetimesTest, ScratchLivesForItsCall) {
  Chain chain;
  chain.program.calls[1].scratch = 100;
  const Lifetimes all = lifetimes(chain.program);
  const Buffer& scratch = all.at(all.scratch_of[1]);
  EXPECT_EQ(scratch.first, 1U);
  EXPECT_EQ(scratch.last, 1U);
  EXPECT_EQ(scratch.size, 100);
  EXPECT_EQ(all.scratch_of[0], kNoBuffer);
}

TEST(LifetimesTest, TheProblemCountsWholeUnitsAndBands) {
  const Chain chain;
  const Lifetimes all = lifetimes(chain.program);
  const SpaceProblem plain = problem_of(all, memory::kHost);
  ASSERT_EQ(plain.problem.buffers.size(), 2U);
  EXPECT_EQ(plain.problem.buffers[0].lower, 0);
  EXPECT_EQ(plain.problem.buffers[0].upper, 2);
  EXPECT_EQ(plain.problem.buffers[0].size, 1);
  const SpaceProblem guarded = problem_of(all, memory::kHost, {.guards = true});
  EXPECT_EQ(guarded.problem.buffers[0].size, 3);
}

TEST(LifetimesTest, AChainOfAnyLengthAndOrderIsOneBuffer) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  memory::Vector<ValueId> values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(
        maker.call(ops::kExp, {values.empty() ? x : values.back()}));
  }
  for (std::size_t i = 1; i < values.size(); ++i) {
    maker.program[values[i]].over = values[i - 1];
  }
  const Lifetimes all = lifetimes(maker.program);
  EXPECT_EQ(all.buffer_of[values.front().value],
            all.buffer_of[values.back().value]);
  EXPECT_EQ(all.buffers.size(), 2U);
}

TEST(LifetimesTest, AValueOverItselfIsABug) {
  Chain chain;
  chain.program[chain.a].over = chain.b;
  chain.program[chain.b].over = chain.a;
  EXPECT_THROW(lifetimes(chain.program), InternalError);
}

}  // namespace
}  // namespace neap::compiler
