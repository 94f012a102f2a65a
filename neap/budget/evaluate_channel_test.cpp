// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "neap/budget/channel.hpp"
#include "neap/budget/evaluate_for_test.hpp"

namespace neap::budget {
namespace {

// A byte takes 2 ns to the file, 1 ns back, and 1 ns of the bus.
Problem small() {
  Problem problem = small_problem();
  problem.values[0].may_spill = true;
  problem.values[1].may_spill = true;
  problem.channel = {.write_rate = kSecond / 2,
                     .read_rate = kSecond,
                     .bus_price = std::int64_t{1} << 20U};
  return problem;
}

constexpr Action kRun = Action::kRun;
constexpr Action kWrite = Action::kWrite;
constexpr Action kFetch = Action::kFetch;
constexpr Action kAwait = Action::kAwait;

Evaluation evaluation(const Problem& problem,
                      std::initializer_list<Step> steps) {
  return evaluate(problem, schedule_of(steps));
}

Evaluation evaluation(std::initializer_list<Step> steps) {
  return evaluation(small(), steps);
}

TEST(EvaluateChannelTest, MovesAreStallsWhereCallsWaitForThem) {
  // Written from 7 to 15, while call 1 runs from 7 to 12; fetched from 15 to
  // 19; call 2 runs then.
  const Evaluation found = evaluation({{kRun, 0},
                                       {kWrite, 0},
                                       {kRun, 1},
                                       {kAwait, 0, {0}},
                                       {kFetch, 0},
                                       {kRun, 2, {0, 1}}});
  ASSERT_TRUE(found.is_good()) << name_of(found.fault);
  EXPECT_EQ(found.stalls, 3 + 4);
  EXPECT_EQ(found.written, 4);
  EXPECT_EQ(found.fetched, 4);
  EXPECT_EQ(found.price, 7 + 4 + 4);
  EXPECT_EQ(found.peak, 4 + 2 + 1);
  EXPECT_EQ(found.peak_run, 2);
}

TEST(EvaluateChannelTest, WhatDropsAValueWaitsBeforeItBegins) {
  const Evaluation found = evaluation(
      {{kRun, 0}, {kWrite, 0}, {kRun, 1, {0}}, {kFetch, 0}, {kRun, 2, {0, 1}}});
  ASSERT_TRUE(found.is_good()) << name_of(found.fault);
  EXPECT_EQ(found.stalls, 8 + 4);
}

TEST(EvaluateChannelTest, WhatMakesAValueAgainWaitsToo) {
  const Evaluation found = evaluation(
      {{kRun, 0}, {kWrite, 0}, {kRun, 0}, {kRun, 1}, {kRun, 2, {0, 1}}});
  ASSERT_TRUE(found.is_good()) << name_of(found.fault);
  EXPECT_EQ(found.stalls, 8);
  EXPECT_EQ(found.price, 8 + 7 + 4);
}

TEST(EvaluateChannelTest, AFetchTakesItsMemoryWhenItBegins) {
  Problem problem = small();
  problem.calls[2].take_overs.clear();
  const Evaluation late = evaluation(
      problem, {{kRun, 0}, {kWrite, 0}, {kRun, 1, {0}}, {kRun, 0}, {kRun, 2}});
  EXPECT_EQ(late.peak, 2 + 4 + 3);
  const Evaluation early = evaluation(problem, {{kRun, 0},
                                                {kRun, 1},
                                                {kWrite, 1},
                                                {kAwait, 1, {1}},
                                                {kFetch, 1},
                                                {kRun, 0},
                                                {kRun, 2}});
  ASSERT_TRUE(early.is_good()) << name_of(early.fault);
  EXPECT_EQ(early.peak, 4 + 2 + 4);
  EXPECT_EQ(early.peak_run, 5);
  // Value 2 took the memory of value 0: the fetch itself is the highest.
  const Evaluation fetch = evaluation(
      {{kRun, 0}, {kWrite, 0}, {kRun, 1}, {kRun, 2, {0}}, {kFetch, 0}});
  ASSERT_TRUE(fetch.is_good()) << name_of(fetch.fault);
  EXPECT_EQ(fetch.peak, 4 + 2 + 3);
  EXPECT_EQ(fetch.peak_run, 4);
}

TEST(EvaluateChannelTest, OneMoveFollowsTheOther) {
  // Value 0 is written from 7 to 15, value 1 from 15 to 19, though it is there
  // at 12; its fetch ends at 21, and is what call 2 waits for.
  const Evaluation found = evaluation({{kRun, 0},
                                       {kWrite, 0},
                                       {kRun, 1},
                                       {kWrite, 1},
                                       {kAwait, 1, {1}},
                                       {kFetch, 1},
                                       {kRun, 2, {0, 1}}});
  ASSERT_TRUE(found.is_good()) << name_of(found.fault);
  EXPECT_EQ(found.stalls, 7 + 2);
}

TEST(EvaluateChannelTest, WhatIsOnTheFileIsFetchedAgainAndAgain) {
  const Evaluation found = evaluation({{kRun, 0},
                                       {kWrite, 0},
                                       {kAwait, 0, {0}},
                                       {kFetch, 0},
                                       {kRun, 1, {0}},
                                       {kFetch, 0},
                                       {kRun, 2, {0, 1}}});
  ASSERT_TRUE(found.is_good()) << name_of(found.fault);
  EXPECT_EQ(found.written, 4);
  EXPECT_EQ(found.fetched, 8);
  EXPECT_EQ(found.stalls, 8 + 4 + 4);
}

TEST(EvaluateChannelTest, WhatOutlivesTheCallsIsWaitedFor) {
  Problem problem = small();
  problem.values[2].may_spill = true;
  const Evaluation found = evaluation(problem, {{kRun, 0},
                                                {kRun, 1},
                                                {kRun, 2, {0, 1}},
                                                {kWrite, 2},
                                                {kAwait, 2, {2}},
                                                {kFetch, 2}});
  ASSERT_TRUE(found.is_good()) << name_of(found.fault);
  EXPECT_EQ(found.stalls, 6 + 3);
}

TEST(EvaluateChannelTest, NamesTheFirstFault) {
  Problem none = small();
  none.channel.reset();
  expect_fault(evaluation(none, {{kRun, 0}, {kWrite, 0}}), Fault::kMayNot, 1,
               0);
  Problem kept = small();
  kept.values[0].may_spill = false;
  expect_fault(evaluation(kept, {{kRun, 0}, {kWrite, 0}}), Fault::kMayNot, 1,
               0);
  expect_fault(evaluation({{kRun, 0}, {kAwait, 3}}), Fault::kMayNot, 1, 3);
  expect_fault(evaluation({{kFetch, -1}}), Fault::kMayNot, 0, -1);
  Problem little = small();
  little.channel->most_written = 3;
  expect_fault(evaluation(little, {{kRun, 0}, {kWrite, 0}}),
               Fault::kTooMuchWritten, 1, 0);
  expect_fault(evaluation({{kWrite, 0}}), Fault::kNotThere, 0, 0);
  expect_fault(evaluation({{kRun, 0}, {kAwait, 1}}), Fault::kNotThere, 1, 1);
  expect_fault(evaluation({{kRun, 0}, {kWrite, 0}, {kWrite, 0}}),
               Fault::kWrittenTwice, 2, 0);
  expect_fault(evaluation({{kRun, 0, {0}}, {kFetch, 0}}), Fault::kNotOnFile, 1,
               0);
  expect_fault(evaluation({{kRun, 0}, {kWrite, 0}, {kFetch, 0}}),
               Fault::kFetchTwice, 2, 0);
  expect_fault(
      evaluation({{kRun, 0}, {kWrite, 0}, {kAwait, 0, {0}}, {kRun, 1}}),
      Fault::kAbsent, 3, 0);
  expect_fault(evaluation({{kRun, 0}, {kWrite, 0, {0}}}), Fault::kDrop, 1, 0);
}

TEST(EvaluateChannelTest, WhatIsComingIsNeitherWrittenNorFetched) {
  const auto then = [](Action action) {
    return evaluation(
        {{kRun, 0}, {kWrite, 0}, {kAwait, 0, {0}}, {kFetch, 0}, {action, 0}});
  };
  expect_fault(then(kWrite), Fault::kNotThere, 4, 0);
  expect_fault(then(kFetch), Fault::kFetchTwice, 4, 0);
}

TEST(EvaluateChannelTest, EveryFaultHasAName) {
  for (auto fault = Fault::kNone; fault <= Fault::kFetchTwice;
       fault = static_cast<Fault>(static_cast<int>(fault) + 1)) {
    EXPECT_STRNE(name_of(fault), "unknown");
  }
}

}  // namespace
}  // namespace neap::budget
