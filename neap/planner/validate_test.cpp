// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/validate.hpp"

#include <gtest/gtest.h>

#include "neap/planner/problems_for_test.hpp"

namespace neap::planner {
namespace {

// a and b live together, c comes when a is gone; d lies inside b.
Problem example() {
  Problem problem;
  problem.buffers = {
      {.lower = 0, .upper = 2, .size = 4},
      {.lower = 1, .upper = 5, .size = 6, .alignment = 2},
      {.lower = 2, .upper = 4, .size = 3, .fixed = 1},
      {.lower = 4, .upper = 7, .size = 2, .alias_of = 1, .alias_at = 4},
      {.lower = 6, .upper = 8, .size = 4}};
  problem.capacity = 12;
  return problem;
}

Solution good() {
  Solution solution;
  solution.offsets = {0, 4, 1, 8, 0};
  solution.height = 10;
  solution.lower_bound = 10;
  return solution;
}

Fault fault_of(const Solution& solution) {
  return validate(example(), solution).fault;
}

TEST(ValidateTest, AcceptsAGoodPlan) {
  EXPECT_EQ(fault_of(good()), Fault::kNone);
  Solution raised = good();
  raised.offsets[1] += 2;
  raised.offsets[3] += 2;
  raised.height += 2;
  EXPECT_EQ(fault_of(raised), Fault::kNone);
}

TEST(ValidateTest, NamesEachWayToBeWrong) {
  const auto fault_after = [](auto change) {
    Solution solution = good();
    change(solution);
    return fault_of(solution);
  };
  EXPECT_EQ(fault_after([](auto& s) { s.offsets.pop_back(); }), Fault::kCount);
  EXPECT_EQ(fault_after([](auto& s) { s.offsets[0] = -1; }), Fault::kRange);
  EXPECT_EQ(fault_after([](auto& s) { s.offsets[0] = kNoLimit - 3; }),
            Fault::kRange);
  EXPECT_EQ(fault_after([](auto& s) { s.offsets[1] = 5; }), Fault::kAlignment);
  EXPECT_EQ(fault_after([](auto& s) { s.offsets[2] = 0; }), Fault::kFixed);
  EXPECT_EQ(fault_after([](auto& s) { s.offsets[3] = 4; }), Fault::kAlias);
  EXPECT_EQ(fault_after([](auto& s) { s.height = 11; }), Fault::kHeight);
  EXPECT_EQ(fault_after([](auto& s) { s.height = 9; }), Fault::kHeight);
  EXPECT_EQ(fault_after([](auto& s) { s.lower_bound = 11; }), Fault::kBound);
  EXPECT_EQ(fault_after([](auto& s) {
              s.offsets[1] += 4;
              s.offsets[3] += 4;
              s.height += 4;
            }),
            Fault::kCapacity);
}

TEST(ValidateTest, KnowsABufferFixedAtZero) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 4, .fixed = 0}};
  Solution solution;
  solution.offsets = {4};
  solution.height = 8;
  EXPECT_EQ(validate(problem, solution).fault, Fault::kFixed);
}

TEST(ValidateTest, NamesTheTwoThatOverlap) {
  Solution solution = good();
  solution.offsets[0] = 1;
  const Verdict verdict = validate(example(), solution);
  EXPECT_EQ(verdict.fault, Fault::kOverlap);
  EXPECT_EQ(verdict.first, 0);
  EXPECT_EQ(verdict.second, 1);
}

TEST(ValidateTest, KeepsABufferAliveAsLongAsItsAlias) {
  Solution solution = good();
  solution.offsets[4] = 4;  // buffer 1 itself is gone, its alias is not
  const Verdict verdict = validate(example(), solution);
  EXPECT_EQ(verdict.fault, Fault::kOverlap);
  EXPECT_EQ(verdict.first, 1);
  EXPECT_EQ(verdict.second, 4);
}

TEST(ValidateTest, KeepsTheFirstBufferAliveAsLongAsItsAlias) {
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 2, .size = 4},
                     {.lower = 3, .upper = 6, .size = 4, .alias_of = 0},
                     {.lower = 4, .upper = 5, .size = 4}};
  Solution solution;
  solution.offsets = {0, 0, 0};
  solution.height = 4;
  EXPECT_EQ(validate(problem, solution).fault, Fault::kOverlap);
}

TEST(ValidateTest, LetsEmptyBuffersLieAnywhere) {
  Problem problem;
  problem.buffers = {{.upper = 2, .size = 4}, {.upper = 2, .size = 0}};
  Solution solution;
  solution.offsets = {0, 2};
  solution.height = 4;
  EXPECT_TRUE(validate(problem, solution).is_good());
}

// All pairs, the plain way.
bool is_free_of_overlaps(const Problem& problem, const Solution& solution) {
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const Buffer& a = problem.buffers[i];
      const Buffer& b = problem.buffers[k];
      const bool in_time = a.lower < b.upper && b.lower < a.upper;
      const bool in_memory =
          solution.offsets[i] < solution.offsets[k] + b.size &&
          solution.offsets[k] < solution.offsets[i] + a.size;
      if (in_time && in_memory && a.size > 0 && b.size > 0) {
        return false;
      }
    }
  }
  return true;
}

TEST(ValidateTest, AgreesWithAllPairsOnRandomPlans) {
  std::mt19937 random(7);
  int good = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    const Problem problem = random_problem(
        seed, {.buffers = 6, .instants = 12, .longest = 4, .largest = 3});
    Solution solution;
    for (const Buffer& b : problem.buffers) {
      solution.offsets.push_back(random() % 9);
      if (b.size > 0) {
        solution.height =
            std::max(solution.height, solution.offsets.back() + b.size);
      }
    }
    const bool is_good = validate(problem, solution).is_good();
    EXPECT_EQ(is_good, is_free_of_overlaps(problem, solution)) << seed;
    good += is_good ? 1 : 0;
  }
  EXPECT_GT(good, 300);
  EXPECT_LT(good, 2700);
}

TEST(ValidateTest, NamesAreWords) {
  EXPECT_STREQ(name_of(Fault::kOverlap), "overlap");
  EXPECT_STREQ(name_of(Fault::kNone), "none");
}

TEST(ValidateTest, SeesAnAliasOfTheFirstThatLiesElsewhere) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 8},
                     {.upper = 1, .size = 4, .alias_of = 0}};
  Solution solution;
  solution.height = 8;
  solution.offsets = {0, 0};
  EXPECT_TRUE(validate(problem, solution).is_good());
  solution.offsets = {0, 4};
  EXPECT_EQ(validate(problem, solution).fault, Fault::kAlias);
}

TEST(ValidateTest, KnowsTheHeightOfNothing) {
  EXPECT_TRUE(validate(Problem{}, Solution{}).is_good());
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 0}};
  Solution solution;
  solution.offsets = {0};
  EXPECT_TRUE(validate(problem, solution).is_good());
  solution.height = 1;
  EXPECT_EQ(validate(problem, solution).fault, Fault::kHeight);
}

}  // namespace
}  // namespace neap::planner
