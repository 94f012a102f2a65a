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
  static std::uint32_t seed_of(std::uint32_t i) {
    return kFirstSeed + kShares * i + GetParam();
  }
};

TEST_P(BudgetSoak, BoundAndSearchHaveTheOptimumBetweenThem) {
  constexpr std::uint32_t kProblems = 100'000 / kShares;
  Score score;
  for (std::uint32_t i = 0; i < kProblems && !HasFatalFailure(); ++i) {
    const std::uint32_t seed = seed_of(i);
    SCOPED_TRACE(seed);
    const Problem problem = random_problem(
        seed,
        {.calls = 1 + static_cast<int>((seed / kShares) % 7), .outputs = 2});
    Optimum optimum(problem);
    check_targets(problem, optimum, score);
  }
  EXPECT_GT(100 * score.found, 95 * score.feasible);
  EXPECT_GT(100 * score.optimal, 80 * score.feasible);
}

TEST_P(BudgetSoak, BoundAndSearchWithAChannelHaveTheOptimumBetweenThem) {
  constexpr std::uint32_t kProblems = 40'000 / kShares;
  Score score;
  for (std::uint32_t i = 0; i < kProblems && !HasFatalFailure(); ++i) {
    const std::uint32_t seed = seed_of(i);
    SCOPED_TRACE(seed);
    Problem problem = random_problem(
        seed,
        {.calls = 1 + static_cast<int>((seed / kShares) % 5), .largest = 5});
    add_random_channel(problem, seed);
    ChannelOptimum optimum(problem);
    check_targets(problem, optimum, score);
  }
  EXPECT_GT(100 * score.found, 95 * score.feasible);
  EXPECT_GT(100 * score.optimal, 80 * score.feasible);
}

TEST_P(BudgetSoak, ALargerBudgetNeverCostsMore) {
  constexpr std::uint32_t kProblems = 1'500 / kShares;
  for (std::uint32_t i = 0; i < kProblems && !HasFailure(); ++i) {
    const std::uint32_t seed = seed_of(i);
    SCOPED_TRACE(seed);
    Problem problem = random_problem(seed, {.calls = 24, .outputs = 2});
    expect_ladder(problem, ladder(problem, {.search = {.walks = 80}}));
    add_random_channel(problem, seed);
    expect_ladder(problem, ladder(problem, {.search = {.walks = 80}}));
  }
}

INSTANTIATE_TEST_SUITE_P(Share, BudgetSoak, ::testing::Range(0U, kShares));

}  // namespace
}  // namespace neap::budget
