// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "neap/planner/lower_bound.hpp"
#include "neap/planner/problems_for_test.hpp"
#include "neap/planner/validate.hpp"

namespace neap::planner {
namespace {

void expect_valid(const Problem& problem, const Solution& solution) {
  const Verdict verdict = validate(problem, solution);
  EXPECT_TRUE(verdict.is_good()) << name_of(verdict.fault) << ' '
                                 << verdict.first << ' ' << verdict.second;
  EXPECT_GE(solution.lower_bound, lower_bound(problem).height);
}

TEST(SolveTest, PlansNothing) {
  const Solution solution = solve({});
  EXPECT_TRUE(solution.is_proven);
  EXPECT_EQ(solution.height, 0);
}

TEST(SolveTest, ReusesOffsetsOfDeadBuffers) {
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 2, .size = 4},
                     {.lower = 2, .upper = 5, .size = 3}};
  const Solution solution = solve(problem);
  expect_valid(problem, solution);
  EXPECT_EQ(solution.height, 4);
  EXPECT_TRUE(solution.is_proven);
}

TEST(SolveTest, KeepsAlignmentsFixedOffsetsAndAliases) {
  Problem problem;
  problem.buffers = {
      {.lower = 0, .upper = 4, .size = 10, .alignment = 16},
      {.lower = 1, .upper = 3, .size = 7, .alignment = 8, .fixed = 8},
      {.lower = 2, .upper = 6, .size = 4, .alias_of = 0, .alias_at = 4},
      {.lower = 5, .upper = 7, .size = 12},
      {.lower = 5, .upper = 7, .size = 0, .alignment = 4}};
  const Solution solution = solve(problem);
  expect_valid(problem, solution);
  EXPECT_EQ(solution.offsets[0], 16);
  EXPECT_EQ(solution.offsets[2], 20);
}

TEST(SolveTest, SaysThatNoneFits) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 6}, {.upper = 1, .size = 6}};
  problem.capacity = 11;
  const Solution solution = solve(problem);
  EXPECT_TRUE(solution.offsets.empty());
  EXPECT_TRUE(solution.is_proven);
  EXPECT_EQ(solution.lower_bound, 12);
}

// The sums fit, no plan does: what is proven is more than the capacity.
TEST(SolveTest, SaysThatNoneFitsThoughTheSumsDo) {
  Problem problem = seven_over_six();
  problem.capacity = 6 * 64 + 32;
  const Solution solution = solve(problem);
  EXPECT_TRUE(solution.offsets.empty());
  EXPECT_TRUE(solution.is_proven);
  EXPECT_EQ(solution.lower_bound, problem.capacity + 1);
}

TEST(SolveTest, SaysThatFixedBuffersOverlap) {
  Problem problem;
  problem.buffers = {{.upper = 2, .size = 6, .fixed = 0},
                     {.lower = 1, .upper = 3, .size = 6, .fixed = 5}};
  const Solution solution = solve(problem);
  EXPECT_TRUE(solution.offsets.empty());
  EXPECT_TRUE(solution.is_proven);
}

TEST(SolveTest, RefusesABrokenProblem) {
  Problem problem;
  problem.buffers = {{.lower = 1, .upper = 1, .size = 6}};
  EXPECT_THROW(solve(problem), ValueError);
}

// The optimum is what some order reaches in which each is put as low as those
// before it let it: the order of the optimum's own offsets.
std::int64_t optimum(const Problem& problem) {
  const std::size_t count = problem.buffers.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::int64_t best = kNoLimit;
  do {
    std::vector<std::int64_t> top(count, 0);
    std::int64_t height = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const Buffer& b = problem.buffers[order[k]];
      std::int64_t offset = 0;
      for (std::size_t j = 0; j < k; ++j) {
        const Buffer& a = problem.buffers[order[j]];
        if (a.lower < b.upper && b.lower < a.upper) {
          offset = std::max(offset, top[order[j]]);
        }
      }
      offset = (offset + b.alignment - 1) / b.alignment * b.alignment;
      top[order[k]] = offset + b.size;
      height = std::max(height, b.size > 0 ? top[order[k]] : 0);
    }
    best = std::min(best, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(SolveTest, ReachesTheOptimumOfTinyProblems) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Problem problem = random_problem(
        seed, {.buffers = 7, .instants = 8, .longest = 5, .largest = 9});
    const Solution solution = solve(problem);
    expect_valid(problem, solution);
    const std::int64_t best = optimum(problem);
    EXPECT_EQ(solution.height, best) << seed;
    EXPECT_TRUE(solution.is_proven) << seed;
  }
}

TEST(SolveTest, IsValidOnRandomProblems) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const Problem problem = random_problem(seed, {.buffers = 80,
                                                  .instants = 60,
                                                  .longest = 20,
                                                  .largest = 100,
                                                  .unit = 1 + seed % 3});
    expect_valid(problem, solve(problem, {.work = 5000}));
  }
}

TEST(SolveTest, ReachesTheBoundOfTrainingSteps) {
  int proven = 0;
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const Problem problem = training_problem(seed, 300);
    const Solution solution = solve(problem);
    expect_valid(problem, solution);
    EXPECT_LE(solution.height, solution.lower_bound * 501 / 500) << seed;
    proven += solution.is_proven ? 1 : 0;
  }
  EXPECT_GE(proven, 9);
}

TEST(SolveTest, FindsTheSamePlanAgain) {
  const Problem problem = random_problem(
      3, {.buffers = 100, .instants = 50, .longest = 20, .largest = 100});
  EXPECT_EQ(solve(problem, {.work = 20000}).offsets,
            solve(problem, {.work = 20000}).offsets);
}

TEST(SolveTest, StopsAtWhatIsGoodEnough) {
  const Problem problem = random_problem(
      3, {.buffers = 100, .instants = 50, .longest = 20, .largest = 100});
  const Solution best = solve(problem, {.work = 20000});
  const Solution quick = solve(problem, {.good_enough = kNoLimit});
  expect_valid(problem, quick);
  EXPECT_LT(quick.work, best.work);
}

TEST(SolveTest, FreesEverythingWhenMemoryRunsOut) {
  const auto domain = memory::Domain::create();
  memory::ContextGuard guard(
      [&](memory::Context& c) { c.domain = domain.get(); });
  const Problem problem = random_problem(
      5, {.buffers = 12, .instants = 10, .longest = 4, .largest = 9});
  const auto live = domain->stats().live;
  int failures = 0;
  for (std::int64_t n = 1;; ++n) {
    domain->fail_at(n);
    try {
      const Solution solution = solve(problem, {.work = 500});
      domain->fail_at(0);
      expect_valid(problem, solution);
      break;
    } catch (const OutOfMemory&) {
      ++failures;
      EXPECT_EQ(domain->stats().live, live);
    }
  }
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace neap::planner
