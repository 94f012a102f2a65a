// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The portfolio: items in a dozen orders, each put into the lowest or tightest
// gap (Pisarchyk and Lee, "Efficient memory management for deep neural net
// inference", 2020, compare such orders; no single one is best).
#pragma once

#include "neap/planner/effort.hpp"
#include "neap/planner/timeline.hpp"

namespace neap::planner {

/// The best plan; stops at the first of at most `enough`. The first orders run
/// whatever the effort, so that there is always a plan of some height, unless
/// fixed items overlap. THROWS: OutOfMemory.
Plan greedy(const Timeline& timeline, std::int64_t enough, Effort& effort);

}  // namespace neap::planner
