// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A hundred times as many random problems as the unit tests have, behind
// ./dev soak: beside the optimum by trying all, and over whole ladders.
#include <gtest/gtest.h>

#include "neap/budget/bound.hpp"
#include "neap/budget/channel_optimum_for_test.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/budget/ladder_for_test.hpp"
#include "neap/budget/optimum_for_test.hpp"
#include "neap/budget/problems_for_test.hpp"

namespace neap::budget {
namespace {

constexpr std::uint32_t kFirstSeed = 1'000'000;  // the unit tests' are lower
constexpr std::uint32_t kShares = 10;

/// How often a schedule was asked for that exists, found, and the cheapest.
struct Score {
  std::int64_t feasible = 0;
  std::int64_t found = 0;
  std::int64_t optimal = 0;
};

// Checks every target from all that the problem takes down to the first target
// that is impossible.
template <class Best>
void check_targets(const Problem& problem, Best& optimum, Score& score) {
  for (std::int64_t target = full_memory(problem);; --target) {
    const std::optional<std::int64_t> best = optimum.price(target);
    const std::optional<Found> got = search(problem, target, {.walks = 60});
    const Bound bound = lower_bound(problem, target, 6);
    if (!best) {
      EXPECT_FALSE(got.has_value());
      return;
    }
    ASSERT_FALSE(bound.is_impossible) << target;
    ASSERT_LE(bound.price, *best) << target;
    ++score.feasible;
    if (got) {
      ASSERT_GE(got->price, *best) << target;
      const Evaluation evaluation = evaluate(problem, got->schedule);
      ASSERT_TRUE(evaluation.is_good()) << name_of(evaluation.fault);
      ASSERT_EQ(evaluation.price, got->price) << target;
      ASSERT_LE(evaluation.peak, target);
      ++score.found;
      score.optimal += got->price == *best ? 1 : 0;
    }
  }
}

// Each share has one of kShares parts of all seeds, within the time of a test.
class BudgetSoak : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  // Calls check(seed, i) for this share of so many seeds, until one fails.
  template <class Check>
  static void for_each_seed(std::uint32_t problems, const Check& check) {
    for (std::uint32_t i = 0; i < problems / kShares && !HasFailure(); ++i) {
      const std::uint32_t seed = kFirstSeed + kShares * i + GetParam();
      SCOPED_TRACE(seed);
      check(seed, static_cast<int>(kFirstSeed / kShares + i));
    }
  }
  static void expect_mostly_optimal(const Score& score) {
    EXPECT_GT(100 * score.found, 95 * score.feasible);
    EXPECT_GT(100 * score.optimal, 80 * score.feasible);
  }
};

TEST_P(BudgetSoak, BoundAndSearchHaveTheOptimumBetweenThem) {
  Score score;
  for_each_seed(100'000, [&](std::uint32_t seed, int i) {
    const Problem problem =
        random_problem(seed, {.calls = 1 + i % 7, .outputs = 2});
    Optimum optimum(problem);
    check_targets(problem, optimum, score);
  });
  expect_mostly_optimal(score);
}

TEST_P(BudgetSoak, BoundAndSearchWithAChannelHaveTheOptimumBetweenThem) {
  Score score;
  for_each_seed(40'000, [&](std::uint32_t seed, int i) {
    Problem problem = random_problem(seed, {.calls = 1 + i % 5, .largest = 5});
    add_random_channel(problem, seed);
    ChannelOptimum optimum(problem);
    check_targets(problem, optimum, score);
  });
  expect_mostly_optimal(score);
}

TEST_P(BudgetSoak, ALargerBudgetNeverCostsMore) {
  for_each_seed(1'500, [](std::uint32_t seed, int /*i*/) {
    Problem problem = random_problem(seed, {.calls = 24, .outputs = 2});
    expect_ladder(problem, ladder(problem, {.search = {.walks = 80}}));
    add_random_channel(problem, seed);
    expect_ladder(problem, ladder(problem, {.search = {.walks = 80}}));
  });
}

INSTANTIATE_TEST_SUITE_P(Share, BudgetSoak, ::testing::Range(0U, kShares));

}  // namespace
}  // namespace neap::budget
