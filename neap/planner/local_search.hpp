// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Better plans by trouble shooting ("squeaky wheel" search, Joslin and
// Clements, 1999): items are placed in an order below a limit just under the
// best height; the first that finds no place is moved ahead of an item that it
// meets in time, and placing goes on from there.
#pragma once

#include "neap/planner/greedy.hpp"

namespace neap::planner {

/// When a search ends: at a plan of at most `enough`, or when `steps` of the
/// effort are spent. The same seed gives the same plan.
struct SearchGoal {
  std::int64_t enough = 0;  // height
  std::uint64_t seed = 1;
  std::int64_t steps = 0;
};

/// `best`, or a lower plan. THROWS: OutOfMemory.
Plan improve(const Timeline& timeline, const Orders& orders, Plan best,
             const SearchGoal& goal, Effort& effort);

}  // namespace neap::planner
