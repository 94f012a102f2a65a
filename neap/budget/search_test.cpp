// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/search.hpp"

#include <gtest/gtest.h>

#include "neap/base/error.hpp"
#include "neap/budget/bound.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/budget/ladder.hpp"
#include "neap/budget/optimum_for_test.hpp"
#include "neap/budget/problems_for_test.hpp"
#include "neap/memory/domain.hpp"

namespace neap::budget {
namespace {

TEST(SearchTest, IsNeverBelowTheOptimumAndMostlyThere) {
  std::int64_t feasible = 0;
  std::int64_t found = 0;
  std::int64_t optimal = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const Problem problem = random_problem(seed, {.calls = 6});
    Optimum optimum(problem);
    for (std::int64_t target = full_memory(problem);; --target) {
      const std::optional<std::int64_t> best = optimum.price(target);
      const std::optional<Found> got = search(problem, target, {.walks = 60});
      if (!best) {
        EXPECT_FALSE(got.has_value()) << seed;
        break;
      }
      ++feasible;
      if (got) {
        ++found;
        ASSERT_GE(got->price, *best) << seed;
        optimal += got->price == *best ? 1 : 0;
        const Evaluation evaluation = evaluate(problem, got->schedule);
        EXPECT_TRUE(evaluation.is_good());
        EXPECT_EQ(evaluation.price, got->price);
        EXPECT_LE(evaluation.peak, target);
      }
    }
  }
  EXPECT_GT(100 * found, 95 * feasible);
  EXPECT_GT(100 * optimal, 80 * feasible);
}

TEST(SearchTest, MoreWalksNeverCostMore) {
  const Problem problem = random_problem(3, {.calls = 60, .has_limits = false});
  const std::int64_t target = full_memory(problem) * 9 / 10;
  std::int64_t last = std::int64_t{1} << 62U;
  for (const std::int64_t walks : {50, 200, 1000}) {
    const std::optional<Found> found =
        search(problem, target, {.walks = walks});
    ASSERT_TRUE(found.has_value());
    EXPECT_LE(found->price, last);
    EXPECT_LE(found->walks, walks);
    last = found->price;
  }
}

TEST(SearchTest, TheSameWalksGiveTheSameSchedule) {
  const Problem problem = random_problem(5, {.calls = 40});
  const std::int64_t target = full_memory(problem) * 3 / 4;
  const auto one = search(problem, target, {.walks = 300});
  const auto other = search(problem, target, {.walks = 300});
  ASSERT_EQ(one.has_value(), other.has_value());
  if (one) {
    EXPECT_EQ(one->price, other->price);
    EXPECT_EQ(one->schedule.drops, other->schedule.drops);
  }
}

TEST(SearchTest, AnIncumbentIsBeatenOrGivenBack) {
  const Problem problem = chain(12);
  const auto small = search(problem, 6);
  ASSERT_TRUE(small.has_value());
  const auto none = search(problem, 8, {.walks = 0}, &*small);
  EXPECT_EQ(none->price, small->price);
  const auto better = search(problem, 10, {}, &*small);
  EXPECT_LT(better->price, small->price);
}

TEST(SearchTest, AStartTakesThePlaceOfTheRankings) {
  const Problem problem = random_problem(3, {.calls = 60, .has_limits = false});
  const std::int64_t target = full_memory(problem) * 9 / 10;
  const auto first = search(problem, target, {.walks = 50});
  ASSERT_TRUE(first.has_value() && first->start.has_value());
  EXPECT_GE(first->start->price, first->price);
  const auto rest = search(problem, target, {.walks = 250}, &*first);
  const auto all = search(problem, target, {.walks = 300});
  EXPECT_EQ(rest->price, all->price);
  EXPECT_LT(rest->price, first->price);
}

TEST(SearchTest, StopsWhereThePriceIsGoodEnough) {
  const Problem problem = chain(12);
  EXPECT_EQ(search(problem, 100)->walks, 1);
  EXPECT_EQ(search(problem, 6, {.good_enough = 1000})->walks, 1);
}

TEST(SearchTest, RefusesWhatIsNoProblem) {
  Problem problem = chain(2);
  problem.calls[0].price = -1;
  EXPECT_THROW(static_cast<void>(search(problem, 10)), ValueError);
}

TEST(SearchTest, FreesEverythingWhereverMemoryEnds) {
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  const Problem problem = chain(6);
  const Bytes live = domain->stats().live;
  for (std::int64_t n = 1;; ++n) {
    domain->fail_at(n);
    try {
      const auto found = search(problem, 5, {.walks = 60});
      domain->fail_at(0);
      EXPECT_TRUE(found.has_value());
      EXPECT_GT(n, 20);
      break;
    } catch (const OutOfMemory&) {
      domain->fail_at(0);
      EXPECT_EQ(domain->stats().live, live) << n;
    }
  }
}

// The distance of all rankings from the bound falls by a third with three cuts.
TEST(SearchTest, CutsAreBetterThanRankings) {
  std::int64_t rankings = 0;
  std::int64_t cuts = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Problem problem = random_layers(seed, 60);
    const std::int64_t target = full_memory(problem) * 11 / 20;
    const std::int64_t bound = lower_bound(problem, target).price;
    const auto few = search(problem, target, {.walks = 50});
    const auto more = search(problem, target, {.walks = 62});
    ASSERT_TRUE(few && more) << seed;
    ASSERT_GE(more->price, bound) << seed;
    rankings += few->price - bound;
    cuts += more->price - bound;
  }
  EXPECT_LT(3 * cuts, 2 * rankings);
}

}  // namespace
}  // namespace neap::budget
