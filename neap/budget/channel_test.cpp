// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tests of search, ladder and bound with a channel.
#include <gtest/gtest.h>

#include "neap/budget/bound.hpp"
#include "neap/budget/channel_optimum_for_test.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/budget/ladder_for_test.hpp"
#include "neap/budget/optimum_for_test.hpp"
#include "neap/budget/problems_for_test.hpp"
#include "neap/memory/domain.hpp"

namespace neap::budget {
namespace {

TEST(ChannelTest, BoundAndSearchHaveTheOptimumBetweenThem) {
  std::int64_t feasible = 0;
  std::int64_t found = 0;
  std::int64_t optimal = 0;
  std::int64_t tight = 0;
  std::int64_t helped = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Problem problem = random_problem(seed, {.calls = 5, .largest = 5});
    const Problem without = problem;
    add_random_channel(problem, seed);
    ChannelOptimum optimum(problem);
    Optimum other(without);
    for (std::int64_t target = full_memory(problem);; --target) {
      const std::optional<std::int64_t> best = optimum.price(target);
      const std::optional<Found> got = search(problem, target, {.walks = 100});
      const Bound bound = lower_bound(problem, target, 8);
      if (!best) {
        EXPECT_FALSE(got.has_value()) << seed;
        break;
      }
      const std::optional<std::int64_t> runs = other.price(target);
      ASSERT_TRUE(!runs || *best <= *runs);
      helped += !runs || *best < *runs ? 1 : 0;
      ASSERT_FALSE(bound.is_impossible) << seed << ' ' << target;
      ASSERT_LE(bound.price, *best) << seed << ' ' << target;
      tight += *best > 0 && bound.price == *best ? 1 : 0;
      ++feasible;
      if (got) {
        ++found;
        ASSERT_GE(got->price, *best) << seed << ' ' << target;
        optimal += got->price == *best ? 1 : 0;
        EXPECT_EQ(evaluate(problem, got->schedule).price, got->price);
      }
    }
  }
  EXPECT_GT(100 * found, 97 * feasible);
  EXPECT_GT(100 * optimal, 85 * feasible);
  EXPECT_GT(helped, 100);
  EXPECT_GT(tight, 10);
}

TEST(ChannelTest, ALargerBudgetNeverCostsMore) {
  for (std::uint32_t seed = 0; seed < 16; ++seed) {
    Problem problem = random_problem(seed, {.calls = 24, .outputs = 2});
    add_random_channel(problem, seed);
    SCOPED_TRACE(seed);
    expect_ladder(problem, ladder(problem, {.search = {.walks = 80}}));
  }
}

// A chain whose calls take 1000 ns and make 1000 bytes each. At `rate` bytes a
// nanosecond, in percent.
Problem chain_with_file(std::int32_t layers, std::int64_t rate) {
  Problem problem = chain(layers);
  for (Call& call : problem.calls) {
    call.price = 1000;
  }
  for (Value& value : problem.values) {
    value.size = 1000;
    value.may_spill = true;
  }
  problem.channel = {.write_rate = kSecond / 100 * rate,
                     .read_rate = kSecond / 100 * rate};
  return problem;
}

std::int64_t runs_again(const Problem& problem, const Schedule& schedule) {
  std::int64_t runs = 0;
  for (const auto& run : schedule.runs) {
    runs += run.action == Action::kRun ? 1 : 0;
  }
  return runs - static_cast<std::int64_t>(problem.calls.size());
}

TEST(ChannelTest, AFastChannelHidesBehindTheCallsOfAChain) {
  const Problem problem = chain_with_file(60, 101);
  const std::int64_t target = full_memory(problem) / 5;
  const std::optional<Found> found = search(problem, target);
  ASSERT_TRUE(found.has_value());
  const Evaluation evaluation = evaluate(problem, found->schedule);
  EXPECT_LE(evaluation.peak, target);
  EXPECT_EQ(runs_again(problem, found->schedule), 0);
  EXPECT_EQ(evaluation.stalls, 0);
  EXPECT_EQ(evaluation.written, evaluation.fetched);
  EXPECT_EQ(evaluation.written, full_memory(problem) - target + 400);
}

TEST(ChannelTest, RunsAndASlowChannelTogetherAreCheaperThanEither) {
  for (const std::int64_t rate : {70, 50, 30, 10}) {
    const Problem both = chain_with_file(60, rate);
    const std::int64_t target = full_memory(both) / 5;
    Problem runs = both;
    runs.channel.reset();
    Problem file = both;
    for (Call& call : file.calls) {
      call.again_until = kNever;
    }
    const SearchOptions options{.walks = 300};
    const std::int64_t price = search(both, target, options)->price;
    EXPECT_LT(price, search(runs, target, options)->price) << rate;
    EXPECT_LT(price, search(file, target, options)->price) << rate;
    EXPECT_LE(lower_bound(both, target).price, price);
  }
}

TEST(ChannelTest, NoMoreIsWrittenThanMayBe) {
  Problem problem = chain_with_file(60, 200);
  const std::int64_t target = full_memory(problem) / 5;
  std::int64_t last = std::int64_t{1} << 62U;
  for (const std::int64_t most : {0, 999, 10'000, 25'500, 100'000}) {
    problem.channel->most_written = most;
    const auto found = search(problem, target, {.walks = 200});
    ASSERT_TRUE(found.has_value());
    const Evaluation evaluation = evaluate(problem, found->schedule);
    EXPECT_TRUE(evaluation.is_good());
    EXPECT_LE(evaluation.written, most);
    EXPECT_LE(evaluation.price, last);
    last = evaluation.price;
  }
  EXPECT_EQ(last, 0);
}

TEST(ChannelTest, TheSameWalksGiveTheSameSchedule) {
  Problem problem = random_problem(5, {.calls = 40});
  add_random_channel(problem, 5);
  problem.channel->most_written = 1000;
  const std::int64_t target = full_memory(problem) * 3 / 4;
  const auto one = search(problem, target, {.walks = 300});
  const auto other = search(problem, target, {.walks = 300});
  ASSERT_TRUE(one.has_value() && other.has_value());
  EXPECT_GT(evaluate(problem, one->schedule).written, 0);
  EXPECT_EQ(one->price, other->price);
  EXPECT_EQ(one->schedule.drops, other->schedule.drops);
  ASSERT_EQ(one->schedule.runs.size(), other->schedule.runs.size());
  for (std::size_t i = 0; i < one->schedule.runs.size(); ++i) {
    EXPECT_EQ(one->schedule.runs[i].index, other->schedule.runs[i].index);
    EXPECT_EQ(one->schedule.runs[i].action, other->schedule.runs[i].action);
  }
}

TEST(ChannelTest, WhatOutlivesTheCallsIsFetchedAtTheEnd) {
  // The second call needs the memory of the first value, which outlives both.
  Problem problem = chain_with_file(1, 100);
  problem.calls.resize(2);
  problem.values.resize(2);
  problem.values[0].outlives = true;
  problem.calls[0].again_until = kNever;
  problem.calls[1].reads.clear();
  problem.calls[1].scratch = 500;
  const auto found = search(problem, 2000);
  ASSERT_TRUE(found.has_value());
  const Evaluation evaluation = evaluate(problem, found->schedule);
  EXPECT_TRUE(evaluation.is_good());
  EXPECT_EQ(evaluation.stalls, 1000 + 1000);
  EXPECT_EQ(found->price, evaluation.price);
}

TEST(ChannelTest, FreesEverythingWhereverMemoryEnds) {
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  const Problem problem = chain_with_file(6, 40);
  const Bytes live = domain->stats().live;
  for (std::int64_t n = 1;; ++n) {
    domain->fail_at(n);
    try {
      const auto found = search(problem, 4000, {.walks = 60});
      domain->fail_at(0);
      ASSERT_TRUE(found.has_value());
      EXPECT_GT(evaluate(problem, found->schedule).written, 0);
      EXPECT_GT(n, 20);
      break;
    } catch (const OutOfMemory&) {
      domain->fail_at(0);
      EXPECT_EQ(domain->stats().live, live) << n;
    }
  }
}

}  // namespace
}  // namespace neap::budget
