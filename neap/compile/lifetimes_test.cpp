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
  void resize(ValueId id, Bytes size) {
    program.respec(id, [&](ValueSpec& spec) { spec.size = size; });
  }
};

TEST(LifetimesTest, AValueLivesFromItsCallToItsLastUse) {
  const Chain chain;
  const Lifetimes all = lifetimes(chain.program);
  EXPECT_EQ(buffer_of(all, chain.a).first, 0U);
  EXPECT_EQ(buffer_of(all, chain.a).last, 1U);
  EXPECT_EQ(buffer_of(all, chain.a).where, Where::kArena);
}

TEST(LifetimesTest, AValueThatNobodyReadsLivesForItsCall) {
  ProgramMaker maker;
  const ValueId x = maker.argument({4});
  const ValueId unread = maker.call(ops::kExp, {x});
  maker.call(ops::kExp, {x});
  const Lifetimes all = lifetimes(maker.program);
  EXPECT_EQ(buffer_of(all, unread).first, 0U);
  EXPECT_EQ(buffer_of(all, unread).last, 0U);
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
  chain.program.calls.change(1, [](Call& call) { call.scratch = 100; });
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

TEST(LifetimesTest, ABufferIsAsLargeAsItsLargestValue) {
  for (const bool is_first_larger : {false, true}) {
    Chain chain;
    chain.program[chain.b].over = chain.a;
    chain.resize(chain.a, is_first_larger ? 400 : 16);
    chain.resize(chain.b, is_first_larger ? 16 : 400);
    EXPECT_EQ(buffer_of(lifetimes(chain.program), chain.a).size, 400);
  }
}

TEST(LifetimesTest, EachKeptResultHasOneBlockOfItsOwn) {
  Chain chain;
  chain.program.results = {{chain.all_of(chain.b), true},
                           {chain.all_of(chain.a), true},
                           {chain.all_of(chain.b), true},
                           {chain.all_of(chain.x), true}};
  const Lifetimes all = lifetimes(chain.program);
  EXPECT_EQ(all.own_blocks, 2U);
  EXPECT_EQ(buffer_of(all, chain.b).index, 0U);
  EXPECT_EQ(buffer_of(all, chain.a).index, 1U);
  EXPECT_EQ(buffer_of(all, chain.x).where, Where::kArgument);
}

TEST(LifetimesTest, AGradientThatIsSetOutlastsTheRun) {
  Chain chain;
  chain.program.results.clear();
  chain.program.grads.resize(3);
  chain.program.grads[0].last = chain.all_of(chain.a);
  EXPECT_EQ(buffer_of(lifetimes(chain.program), chain.a).where, Where::kArena);
  chain.program.grads[0].is_set = true;
  chain.program.grads[1].is_set = true;  // to none
  const Lifetimes all = lifetimes(chain.program);
  EXPECT_EQ(buffer_of(all, chain.a).where, Where::kOwn);
  EXPECT_EQ(buffer_of(all, chain.a).last, 2U);
  EXPECT_EQ(buffer_of(all, chain.b).where, Where::kArena);
  EXPECT_EQ(all.own_blocks, 1U);
}

TEST(LifetimesTest, WithoutReuseWritesStayWhereTheyWrite) {
  Chain chain;
  chain.program[chain.b].over = chain.a;
  chain.program.calls.change(1, [](Call& call) { call.reads_outputs = true; });
  EXPECT_EQ(
      buffer_of(lifetimes(chain.program, {.no_reuse = true}), chain.b).value,
      chain.a);
  chain.program.calls.change(1,
                             [](Call& call) { call.kind = CallKind::kFused; });
  EXPECT_EQ(
      buffer_of(lifetimes(chain.program, {.no_reuse = true}), chain.b).value,
      chain.b);
  chain.program.calls.set(1, {});  // a write has no op
  EXPECT_EQ(
      buffer_of(lifetimes(chain.program, {.no_reuse = true}), chain.b).value,
      chain.a);
}

TEST(LifetimesTest, WithoutReuseAWriteIntoTheOutsideStaysThere) {
  Chain chain;
  chain.program[chain.a].over = chain.x;
  const Lifetimes all = lifetimes(chain.program, {.no_reuse = true});
  EXPECT_EQ(all.buffer_of[chain.a.value], all.buffer_of[chain.x.value]);
  EXPECT_EQ(buffer_of(all, chain.b).first, 0U);
  EXPECT_EQ(buffer_of(all, chain.b).last, 2U);
}

TEST(LifetimesTest, ParametersLieOutsideByTheirNumber) {
  ProgramMaker maker;
  maker.parameter({4});
  const ValueId second = maker.parameter({4});
  maker.call(ops::kExp, {second});
  const Lifetimes all = lifetimes(maker.program);
  EXPECT_EQ(buffer_of(all, second).where, Where::kExternal);
  EXPECT_EQ(buffer_of(all, second).index, 1U);
}

TEST(LifetimesTest, TheProblemHasWhatIsAskedForInItsSpaceAlone) {
  Chain chain;
  chain.program.values.push_back(chain.program[chain.a]);  // nobody's
  const Lifetimes all = lifetimes(chain.program);
  const SpaceProblem here = problem_of(all, memory::kHost);
  ASSERT_EQ(here.problem.buffers.size(), 2U);
  EXPECT_EQ(here.buffers[0], all.buffer_of[chain.a.value]);
  EXPECT_EQ(here.buffers[1], all.buffer_of[chain.b.value]);
  EXPECT_TRUE(problem_of(all, memory::SpaceId{1}).problem.buffers.empty());
}

TEST(LifetimesTest, TheProblemBeginsWithTheFirstBuffer) {
  Lifetimes all;
  all.buffers.push_back({.size = kUnit});
  EXPECT_EQ(problem_of(all, memory::kHost).problem.buffers.size(), 1U);
}

TEST(LifetimesTest, TheProblemRoundsUpAndLeavesEmptyBuffersEmpty) {
  Chain chain;
  chain.resize(chain.a, 0);
  chain.resize(chain.b, kUnit + 1);
  const Lifetimes all = lifetimes(chain.program);
  for (const bool guards : {false, true}) {
    const SpaceProblem found =
        problem_of(all, memory::kHost, {.guards = guards});
    EXPECT_EQ(found.problem.buffers[0].size, 0);
    EXPECT_EQ(found.problem.buffers[1].size, guards ? 4 : 2);
  }
  chain.resize(chain.b, 2 * kUnit);
  EXPECT_EQ(problem_of(lifetimes(chain.program), memory::kHost)
                .problem.buffers[1]
                .size,
            2);
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
