// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The exact packing search does not recurse: six thousand decisions, one
// below the other, are made on a stack of 256 KiB.
#include <gtest/gtest.h>

#include "neap/planner/exact.hpp"
#include "neap/planner/validate.hpp"
#include "support/small_stack.hpp"

namespace neap::tests {
namespace {

TEST(DeepPlanTest, DecidesBelowItselfWithoutAStack) {
  planner::Problem problem;
  for (std::int64_t i = 0; i < 6'000; ++i) {
    problem.buffers.push_back(
        {.lower = i, .upper = i + 2 + i % 3, .size = 1 + i % 7});
  }
  planner::Solution solution;
  on_small_stack([&] {
    solution =
        planner::exact(problem, {.work = 10'000'000, .good_enough = 1'000});
  });
  EXPECT_TRUE(planner::validate(problem, solution).is_good());
  EXPECT_LE(solution.height, 1'000);
}

}  // namespace
}  // namespace neap::tests
