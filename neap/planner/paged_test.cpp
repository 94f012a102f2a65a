// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/paged.hpp"

#include <gtest/gtest.h>

#include "neap/planner/lower_bound.hpp"
#include "neap/planner/problems_for_test.hpp"
#include "neap/planner/validate.hpp"

namespace neap::planner {
namespace {

std::int64_t bound_in_pages(Problem problem, std::int64_t page_size) {
  for (Buffer& b : problem.buffers) {
    b.size = (b.size + page_size - 1) / page_size;
    b.alignment = 1;
  }
  return lower_bound(problem).height;
}

TEST(PagedTest, ReachesTheLowerBoundOfEveryProblem) {
  std::size_t views = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Problem problem = random_problem(
        seed, {.buffers = 60, .instants = 50, .longest = 20, .largest = 90});
    const Paging paging = assign_pages(problem, 4, {.work = 1});
    EXPECT_LE(paging.pages, bound_in_pages(problem, 4));
    EXPECT_GE(paging.pages * 4, lower_bound(problem).height);
    EXPECT_TRUE(validate(problem, paging).is_good());
    views += paging.views.size();
  }
  EXPECT_GT(views, 0U);
}

TEST(PagedTest, ReachesABoundThatNoPlanReaches) {
  const Problem problem = seven_over_six();
  const Solution best = solve(problem);
  EXPECT_TRUE(best.is_proven);
  EXPECT_EQ(best.height, 7 * 64);
  const Paging paging = assign_pages(problem, 64);
  EXPECT_EQ(paging.pages, 6);
  EXPECT_FALSE(paging.views.empty());
  EXPECT_TRUE(validate(problem, paging).is_good());
}

TEST(PagedTest, PlansASinglePage) {
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 2, .size = 16},
                     {.lower = 2, .upper = 3, .size = 16}};
  const Paging paging = assign_pages(problem, 16);
  EXPECT_EQ(paging.pages, 1);
  EXPECT_TRUE(validate(problem, paging).is_good());
}

TEST(PagedTest, PlansPagesOfOneUnit) {
  const Problem problem = random_problem(3, {.buffers = 20, .largest = 9});
  EXPECT_TRUE(validate(problem, assign_pages(problem, 1)).is_good());
}

TEST(PagedTest, ScattersPagesWhereItIsAskedTo) {
  const Problem problem = training_problem(1, 30);
  const Paging together = assign_pages(problem, 64);
  const Paging scattered =
      assign_pages(problem, 64, {.work = 1}, PageChoice::kScattered);
  EXPECT_EQ(scattered.pages, together.pages);
  EXPECT_GT(scattered.views.size(), 100U);
  EXPECT_TRUE(validate(problem, scattered).is_good());
}

TEST(PagedTest, SmallBuffersSharePages) {
  Problem problem;
  for (std::int64_t i = 0; i < 40; ++i) {
    problem.buffers.push_back({.lower = i, .upper = i + 12, .size = 3});
  }
  problem.buffers.push_back({.lower = 20, .upper = 22, .size = 64});
  const Paging paging = assign_pages(problem, 16);
  EXPECT_EQ(bound_in_pages(problem, 16), 4 + 12);
  EXPECT_LE(paging.pages, 4 + 4);  // 12 of 3 units: at least 3 pages
  EXPECT_TRUE(validate(problem, paging).is_good());
}

// Lifetimes are so far apart that a common page would only be in the way.
TEST(PagedTest, SmallBuffersStayApartWhereThatTakesFewerPages) {
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 2, .size = 1},
                     {.lower = 1, .upper = 5, .size = 16},
                     {.lower = 4, .upper = 6, .size = 1}};
  EXPECT_EQ(assign_pages(problem, 16).pages, 2);
}

TEST(PagedTest, NeedsNoViewsWhereAPlanReachesTheBound) {
  const Problem problem = training_problem(1, 50);
  ASSERT_TRUE(solve(problem).is_proven);
  const Paging paging = assign_pages(problem, 64);
  EXPECT_EQ(paging.pages * 64, lower_bound(problem).height);
  EXPECT_TRUE(paging.views.empty());
  EXPECT_EQ(paging.address_pages, paging.pages);
  EXPECT_TRUE(validate(problem, paging).is_good());
}

TEST(PagedTest, PutsAliasesIntoTheirBuffers) {
  Problem problem;
  problem.buffers = {
      {.lower = 0, .upper = 2, .size = 10},
      {.lower = 1, .upper = 4, .size = 3},
      {.lower = 2, .upper = 5, .size = 4, .alias_of = 0, .alias_at = 6}};
  const Paging paging = assign_pages(problem, 8);
  EXPECT_EQ(paging.pages, 3);
  EXPECT_EQ(paging.addresses[2], paging.addresses[0] + 6);
}

TEST(PagedTest, TheValidatorSeesPlantedFaults) {
  const Problem problem = random_problem(
      3, {.buffers = 60, .instants = 50, .longest = 20, .largest = 90});
  const Paging good =
      assign_pages(problem, 4, {.work = 1}, PageChoice::kScattered);
  ASSERT_TRUE(validate(problem, good).is_good());
  ASSERT_GT(good.views.size(), 4U);
  const auto fault_of = [&](auto&& plant) {
    Paging bad = good;
    plant(bad);
    return validate(problem, bad).fault;
  };
  EXPECT_EQ(fault_of([](Paging& p) { p.addresses.pop_back(); }), Fault::kCount);
  EXPECT_EQ(fault_of([](Paging& p) { --p.pages; }), Fault::kHeight);
  EXPECT_EQ(fault_of([](Paging& p) { ++p.views[3].at; }), Fault::kHeight);
  EXPECT_EQ(fault_of([](Paging& p) { p.views[3].from = p.pages; }),
            Fault::kHeight);
  EXPECT_EQ(fault_of([](Paging& p) { p.views.pop_back(); }), Fault::kHeight);
  EXPECT_EQ(fault_of([](Paging& p) {
              p.views.push_back({.at = p.address_pages, .from = 0, .count = 0});
            }),
            Fault::kHeight);
  EXPECT_EQ(fault_of([](Paging& p) { p.addresses[0] = -4; }), Fault::kRange);
  EXPECT_EQ(fault_of([](Paging& p) { p.addresses[0] = p.address_pages * 4; }),
            Fault::kRange);
  // A view that shows what another one does.
  EXPECT_EQ(fault_of([](Paging& p) { p.views[1].from = p.views[0].from; }),
            Fault::kOverlap);
}

// The last byte of a buffer in two views lies where another one is.
TEST(PagedTest, TheValidatorNamesBuffersAndSeesTheirLastBytes) {
  Problem problem;
  problem.buffers = {{.upper = 2, .size = 5},
                     {.lower = 1, .upper = 2, .size = 1}};
  Paging paging;
  paging.page_size = 4;
  paging.pages = 2;
  paging.address_pages = 4;
  paging.views = {{.at = 2, .from = 0, .count = 1},
                  {.at = 3, .from = 1, .count = 1}};
  paging.addresses = {8, 4};
  const Verdict verdict = validate(problem, paging);
  EXPECT_EQ(verdict.fault, Fault::kOverlap);
  EXPECT_EQ(verdict.first, 0);
  EXPECT_EQ(verdict.second, 1);
  std::swap(problem.buffers[0], problem.buffers[1]);
  std::swap(paging.addresses[0], paging.addresses[1]);
  const Verdict swapped = validate(problem, paging);
  EXPECT_EQ(swapped.fault, Fault::kOverlap);
  EXPECT_EQ(swapped.first, 0);
  EXPECT_EQ(swapped.second, 1);
  paging.addresses[0] = 5;
  EXPECT_TRUE(validate(problem, paging).is_good());
}

// A buffer lives for as long as what lies inside it.
TEST(PagedTest, TheValidatorHeedsTheLivesOfAliases) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 4},
                     {.upper = 3, .size = 4, .alias_of = 0},
                     {.lower = 1, .upper = 2, .size = 4}};
  Paging paging;
  paging.page_size = 4;
  paging.pages = 1;
  paging.address_pages = 1;
  paging.addresses = {0, 0, 0};
  EXPECT_EQ(validate(problem, paging).fault, Fault::kOverlap);
}

TEST(PagedTest, AnyRequestMayBeRefusedAndNothingIsLeft) {
  const Problem problem = random_problem(
      7, {.buffers = 40, .instants = 30, .longest = 12, .largest = 60});
  const Paging good = assign_pages(problem, 8, {.work = 1});
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  std::int64_t refused = 0;
  for (bool is_done = false; !is_done;) {
    domain->fail_at(refused + 1);
    try {
      EXPECT_EQ(assign_pages(problem, 8, {.work = 1}).addresses,
                good.addresses);
      is_done = true;
    } catch (const OutOfMemory&) {
      ++refused;
    }
    ASSERT_EQ(domain->stats().live_blocks, 0) << refused;
  }
  domain->fail_at(0);
  EXPECT_GT(refused, 20);
}

TEST(PagedTest, RefusesWhatPagesCannotGive) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 4, .alignment = 16}};
  EXPECT_THROW(assign_pages(problem, 8), ValueError);
  EXPECT_THROW(assign_pages(problem, 0), ValueError);
  problem.buffers = {{.upper = 1, .size = 4, .fixed = 0}};
  EXPECT_THROW(assign_pages(problem, 8), ValueError);
  EXPECT_EQ(assign_pages({}, 8).pages, 0);
  problem.buffers = {{.upper = 1, .size = 4}};
  EXPECT_EQ(assign_pages(problem, 1).pages, 4);
}

}  // namespace
}  // namespace neap::planner
