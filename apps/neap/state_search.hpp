// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A budget that is met by an optimizer's state and weights in the spill file. A
// limit of the arena says nothing of these, so that the step is given a budget
// of its own, and finds its plan within it. Where the weights themselves are
// too much, they are made in the file.
#pragma once

#include "within_budget.hpp"

namespace neap::app {

/// Takes a plan with optimizer state, or with weights too, in the spill file
/// into `out`, if the run fits for less time with it. Does nothing without such
/// a file, or where the budget was met for at most 5 % of the time. Fails as
/// rehearse(). THROWS: OutOfMemory.
Result<void> try_states(const TrainSettings& settings, WithinBudget& out);

}  // namespace neap::app
