// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The bound below which no plan can be: at every instant all live buffers lie
// side by side.
#pragma once

#include "neap/planner/problem.hpp"

namespace neap::planner {

struct LowerBound {
  std::int64_t height = 0;
  std::int64_t instant = 0;  // the first at which so much is needed
};

/// The largest sum of live sizes at an instant, or the highest end of a fixed
/// buffer. Where all alignments have a common divisor g, every size but the
/// topmost counts as rounded up to multiples of g. O(n log n).
/// THROWS: ValueError as check(); OutOfMemory.
NEAP_API LowerBound lower_bound(const Problem& problem);

}  // namespace neap::planner
