// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The portfolio: items in several orders, each put into the lowest or tightest
// gap (Pisarchyk and Lee, "Efficient memory management for deep neural net
// inference", 2020, compare such orders; no single one is best), or from two
// ends: what comes in the first half of the time from below, what comes in the
// second from above, as activations and gradients of a training step like it.
#pragma once

#include "neap/planner/effort.hpp"
#include "neap/planner/orders.hpp"
#include "neap/planner/placer.hpp"

namespace neap::planner {

/// The best plan; stops at the first of at most `enough`. The first order runs
/// whatever the effort, so that there is always a plan of some height, unless
/// fixed items overlap. THROWS: OutOfMemory.
Plan greedy(const Timeline& timeline, const Orders& orders, std::int64_t enough,
            Effort& effort);

/// How to place from two ends. THROWS: OutOfMemory.
memory::Vector<Fit> two_ended(const Timeline& timeline);

}  // namespace neap::planner
