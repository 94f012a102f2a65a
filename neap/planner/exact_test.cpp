// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/exact.hpp"

#include <gtest/gtest.h>

#include "neap/base/error.hpp"
#include "neap/memory/context.hpp"
#include "neap/planner/exact_sections.hpp"
#include "neap/planner/lower_bound.hpp"
#include "neap/planner/optimum_for_test.hpp"
#include "neap/planner/problems_for_test.hpp"
#include "neap/planner/validate.hpp"

namespace neap::planner {
namespace {

void expect_valid(const Problem& problem, const Solution& solution) {
  const Verdict verdict = validate(problem, solution);
  EXPECT_TRUE(verdict.is_good()) << name_of(verdict.fault) << ' '
                                 << verdict.first << ' ' << verdict.second;
}

// Alignments and fixed offsets here and there.
Problem spiced_problem(std::uint32_t seed, bool has_fixed) {
  Problem problem = random_problem(
      seed, {.buffers = 7, .instants = 8, .longest = 5, .largest = 9});
  std::mt19937 random(seed ^ 0xabcdefU);
  for (Buffer& b : problem.buffers) {
    constexpr std::int64_t kAlignments[] = {1, 1, 2, 3, 4, 8};
    b.alignment = kAlignments[random() % std::size(kAlignments)];
    if (has_fixed && random() % 4 == 0) {
      b.fixed = static_cast<std::int64_t>(random() % 6) * b.alignment;
    }
  }
  return problem;
}

void expect_optimum(const Problem& problem, std::uint32_t seed,
                    std::int64_t unit = 1) {
  const Solution solution = exact(problem);
  const std::int64_t best = optimum(problem, unit);
  EXPECT_TRUE(solution.is_proven) << seed;
  if (best == kNoLimit) {
    EXPECT_TRUE(solution.offsets.empty()) << seed;
    return;
  }
  expect_valid(problem, solution);
  EXPECT_EQ(solution.height, best) << seed;
  EXPECT_EQ(solution.lower_bound, best) << seed;
}

// At most 13 live at an instant, and yet no plan is below 14.
Problem hard_problem() {
  Problem problem;
  problem.buffers = {{.lower = 4, .upper = 6, .size = 5},
                     {.lower = 1, .upper = 6, .size = 1},
                     {.lower = 1, .upper = 5, .size = 2},
                     {.lower = 8, .upper = 13, .size = 5},
                     {.lower = 3, .upper = 7, .size = 3},
                     {.lower = 4, .upper = 9, .size = 2},
                     {.lower = 6, .upper = 9, .size = 3},
                     {.lower = 2, .upper = 4, .size = 6},
                     {.lower = 6, .upper = 8, .size = 4},
                     {.lower = 5, .upper = 10, .size = 1}};
  return problem;
}

TEST(ExactTest, PlansNothing) {
  const Solution solution = exact({});
  EXPECT_TRUE(solution.is_proven);
  EXPECT_EQ(solution.height, 0);
}

TEST(ExactTest, FindsTheOptimumOfTinyProblems) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const Problem problem = random_problem(
        seed, {.buffers = 9, .instants = 8, .longest = 5, .largest = 6});
    expect_optimum(problem, seed);
  }
}

// Problems, among thousands, with an optimum above the bound, and neighbours.
TEST(ExactTest, ProvesTheOptimumAboveTheBound) {
  int above = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Problem problem = hard_problem();
    std::mt19937 random(seed);
    problem.buffers[random() % 10].size += 1;
    problem.buffers[random() % 10].lower -= 1;
    problem.buffers[random() % 10].upper += 1;
    expect_optimum(problem, seed);
    above += optimum(problem) > lower_bound(problem).height ? 1 : 0;
  }
  EXPECT_GT(above, 20);
}

TEST(ExactTest, FindsTheOptimumWithAlignments) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    expect_optimum(spiced_problem(seed, false), seed);
  }
}

TEST(ExactTest, FindsTheOptimumWithFixedOffsets) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    expect_optimum(spiced_problem(seed, true), seed);
  }
}

// Sizes of a common unit, and one alignment that they are no multiples of.
TEST(ExactTest, FindsTheOptimumOfRoundedSizes) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Problem problem = random_problem(
        seed, {.buffers = 6, .instants = 6, .longest = 5, .largest = 3});
    for (Buffer& b : problem.buffers) {
      b.size *= 96;
      b.alignment = 64;
    }
    expect_optimum(problem, seed, 32);
  }
}

TEST(ExactTest, RaisesTheLowerBoundByProof) {
  const Problem problem = hard_problem();
  EXPECT_EQ(lower_bound(problem).height, 13);
  const Solution solution = exact(problem);
  expect_valid(problem, solution);
  EXPECT_EQ(solution.height, 14);
  EXPECT_EQ(solution.lower_bound, 14);
  EXPECT_EQ(optimum(problem), 14);
}

TEST(ExactTest, ProvesThatACapacityIsTooLow) {
  Problem problem = hard_problem();
  problem.capacity = optimum(problem) - 1;
  ASSERT_GE(problem.capacity, lower_bound(problem).height);
  const Solution solution = exact(problem);
  EXPECT_TRUE(solution.offsets.empty());
  EXPECT_TRUE(solution.is_proven);
  EXPECT_GT(solution.lower_bound, problem.capacity);
}

TEST(ExactTest, ProvesThatAnIncumbentIsTheBest) {
  const Problem problem = hard_problem();
  const std::int64_t best = optimum(problem);
  const Solution same = exact(problem, {.incumbent = best});
  EXPECT_TRUE(same.offsets.empty());
  EXPECT_TRUE(same.is_proven);
  EXPECT_EQ(same.height, best);
  EXPECT_EQ(same.lower_bound, best);
  const Solution lower = exact(problem, {.incumbent = best + 1});
  expect_valid(problem, lower);
  EXPECT_EQ(lower.height, best);
}

TEST(ExactTest, StopsWhereItIsGoodEnough) {
  const Problem problem = random_problem(
      5, {.buffers = 60, .instants = 40, .longest = 20, .largest = 100});
  const std::int64_t enough = lower_bound(problem).height * 5 / 4;
  const Solution solution = exact(problem, {.good_enough = enough});
  expect_valid(problem, solution);
  EXPECT_LE(solution.height, enough);
  EXPECT_LT(solution.work, 2000);
}

TEST(ExactTest, KeepsToItsWorkAndTime) {
  const Problem problem = random_problem(
      1, {.buffers = 300, .instants = 100, .longest = 90, .largest = 1000});
  EXPECT_LE(exact(problem, {.work = 3000}).work, 3000);
  const Solution timed =
      exact(problem, {.work = 1'000'000'000, .seconds = 0.05});
  EXPECT_LT(timed.work, 1'000'000'000);
  EXPECT_EQ(exact(problem, {.work = 0}).work, 0);
}

TEST(ExactTest, SolvesPartsThatNeverMeetEachByItself) {
  Problem problem;
  for (std::int64_t part = 0; part < 50; ++part) {
    for (const Buffer& b : hard_problem().buffers) {
      problem.buffers.push_back(b);
      problem.buffers.back().lower += part * 100;
      problem.buffers.back().upper += part * 100;
    }
  }
  const Solution solution = exact(problem);
  expect_valid(problem, solution);
  EXPECT_TRUE(solution.is_proven);
  EXPECT_EQ(solution.height, optimum(hard_problem()));
}

TEST(ExactTest, FindsTheSamePlanAgain) {
  const Problem problem = random_problem(
      3, {.buffers = 100, .instants = 50, .longest = 20, .largest = 100});
  const Solution once = exact(problem, {.work = 20000});
  const Solution again = exact(problem, {.work = 20000});
  EXPECT_EQ(once.offsets, again.offsets);
  EXPECT_EQ(once.work, again.work);
  expect_valid(problem, once);
}

// Sums of two heights must be numbers: what could be stacked beyond a quarter
// of them is not searched.
TEST(ExactTest, SearchesOnlyWhereSumsOfHeightsAreNumbers) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = kNoLimit / 4 - 1},
                     {.lower = 1, .upper = 2, .size = 1}};
  EXPECT_EQ(exact(problem).offsets.size(), 2U);
  problem.buffers[1] = {.upper = 1, .size = 2};
  const Solution none = exact(problem);
  EXPECT_TRUE(none.offsets.empty());
  EXPECT_FALSE(none.is_proven);
}

TEST(SectionsTest, AreThoseOfTheTimeline) {
  for (const Timeline& timeline : split_by_time(hard_problem())) {
    EXPECT_EQ(Sections(timeline).count(), timeline.sections);
  }
}

TEST(ExactTest, RefusesWhatItCannotRead) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 6}, {.upper = 1, .size = -1}};
  EXPECT_THROW(exact(problem), ValueError);
  problem.buffers[1] = {.upper = 1, .size = 6, .alias_of = 0};
  EXPECT_THROW(exact(problem), ValueError);
}

TEST(ExactTest, FreesAllWhereverMemoryEnds) {
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  Problem problem = hard_problem();
  const Solution expected = exact(problem);
  const Bytes live = domain->stats().live;
  for (std::int64_t n = 1;; ++n) {
    domain->fail_at(n);
    try {
      const Solution solution = exact(problem);
      domain->fail_at(0);
      EXPECT_EQ(solution.offsets, expected.offsets);
      EXPECT_GT(n, 20);
      break;
    } catch (const OutOfMemory&) {
      domain->fail_at(0);
      EXPECT_EQ(domain->stats().live, live) << n;
    }
  }
}

}  // namespace
}  // namespace neap::planner
