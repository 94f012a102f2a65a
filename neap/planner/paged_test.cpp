// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/paged.hpp"

#include <gtest/gtest.h>

#include <set>

#include "neap/planner/lower_bound.hpp"
#include "neap/planner/problems_for_test.hpp"

namespace neap::planner {
namespace {

// The page behind an address.
std::int64_t page_at(const Paging& paging, std::int64_t address) {
  const std::int64_t at = address / paging.page_size;
  if (at < paging.pages) {
    return at;
  }
  for (const PageView& view : paging.views) {
    if (view.at <= at && at < view.at + view.count) {
      return view.from + (at - view.at);
    }
  }
  return -1;
}

// At every begin: no page behind two buffers that live then.
void expect_good(const Problem& problem, const Paging& paging) {
  for (const Buffer& now : problem.buffers) {
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      const Buffer& b = problem.buffers[i];
      if (b.lower > now.lower || b.upper <= now.lower || b.alias_of >= 0) {
        continue;
      }
      for (std::int64_t byte = 0; byte < b.size; byte += paging.page_size) {
        const std::int64_t page = page_at(paging, paging.addresses[i] + byte);
        EXPECT_GE(page, 0);
        EXPECT_LT(page, paging.pages);
        EXPECT_TRUE(seen.insert(page).second) << i << " shares " << page;
      }
    }
  }
}

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
    EXPECT_EQ(paging.pages, bound_in_pages(problem, 4));
    expect_good(problem, paging);
    views += paging.views.size();
  }
  EXPECT_GT(views, 0U);
}

TEST(PagedTest, NeedsNoViewsWhereAPlanReachesTheBound) {
  const Problem problem = training_problem(1, 50);
  ASSERT_TRUE(solve(problem).is_proven);
  const Paging paging = assign_pages(problem, 64);
  EXPECT_EQ(paging.pages * 64, lower_bound(problem).height);
  EXPECT_TRUE(paging.views.empty());
  EXPECT_EQ(paging.address_pages, paging.pages);
  expect_good(problem, paging);
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

TEST(PagedTest, RefusesWhatPagesCannotGive) {
  Problem problem;
  problem.buffers = {{.upper = 1, .size = 4, .alignment = 16}};
  EXPECT_THROW(assign_pages(problem, 8), ValueError);
  EXPECT_THROW(assign_pages(problem, 0), ValueError);
  problem.buffers = {{.upper = 1, .size = 4, .fixed = 0}};
  EXPECT_THROW(assign_pages(problem, 8), ValueError);
  EXPECT_EQ(assign_pages({}, 8).pages, 0);
}

}  // namespace
}  // namespace neap::planner
