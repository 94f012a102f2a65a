// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A price below which no schedule within a target can be: at the first run of a
// call, what was made before and is read later is either in memory or brought
// back afterwards, by runs or from the file. For a price of memory, the
// cheapest such choice is a minimum cut; what it costs beyond the memory that
// there is, is a bound (a Lagrangian relaxation). It holds for the order of the
// problem's calls.
#pragma once

#include <optional>

#include "neap/budget/uses.hpp"

namespace neap::budget {

struct Bound {
  std::int64_t price = 0;
  std::int32_t position =
      kNever;                  // of the call at which it holds; kNever: none
  bool is_impossible = false;  // no schedule is within the target
};

/// The greatest bound of at most `positions` calls: those with the most memory
/// that is needed when nothing is dropped. THROWS: ValueError as check();
/// OutOfMemory.
NEAP_API Bound lower_bound(const Problem& problem, std::int64_t target,
                           std::int32_t positions = 20);

/// Values that the cut of the greatest bound at a call keeps in memory there.
struct Kept {
  std::int32_t position = 0;
  memory::Vector<std::int32_t> values;
};

/// The cuts of at most `positions` calls at which a bound is above 0: half of
/// them those with the most memory, the others spread evenly. REQUIRES:
/// check(problem); uses are the problem's. THROWS: OutOfMemory.
memory::Vector<Kept> kept_by_cuts(const Problem& problem, const Uses& uses,
                                  std::int64_t target, std::int32_t positions);

}  // namespace neap::budget
