// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Properties that every ladder has.
#pragma once

#include <gtest/gtest.h>

#include "neap/budget/bound.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/budget/ladder.hpp"
#include "neap/budget/trim.hpp"

namespace neap::budget {

/// Expects schedules whose figures are right, within their targets and above
/// their bounds; prices fall to none where all is kept.
inline void expect_ladder(const Problem& problem,
                          const memory::Vector<Rung>& rungs) {
  ASSERT_FALSE(rungs.empty());
  EXPECT_EQ(rungs.back().target, full_memory(problem));
  EXPECT_EQ(rungs.back().found.price, 0);
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const Found& found = rungs[i].found;
    const Evaluation seen = evaluate(problem, found.schedule);
    EXPECT_TRUE(seen.is_good());
    EXPECT_EQ(seen.price, found.price);
    EXPECT_EQ(seen.peak, rungs[i].peak);
    EXPECT_LE(seen.peak, rungs[i].target);
    EXPECT_GE(seen.price, lower_bound(problem, rungs[i].target).price);
    EXPECT_EQ(trimmed(problem, found.schedule).drops, found.schedule.drops);
    if (i > 0) {
      EXPECT_GT(rungs[i].target, rungs[i - 1].target);
      EXPECT_LE(found.price, rungs[i - 1].found.price);
    }
  }
}

}  // namespace neap::budget
