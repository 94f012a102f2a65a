// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A budget that is met by an optimizer's state and weights in the spill file. A
// limit of the arena says nothing of these, so that the step is given a budget
// of its own, and finds its plan within it. Where the weights themselves are
// too much, they are made in the file.
#pragma once

#include "within_budget.hpp"

namespace neap::app {

/// Whether weights and optimizer state have to stay in memory: to test between
/// steps, and for averages to change places with them.
bool keeps_in_memory(const TrainSettings& settings);

/// Takes a plan with optimizer state, or with weights too, in the spill file
/// into `out`, if the run fits for less time with it. Does nothing without such
/// a file, where they have to stay, or where the budget is met for no time.
/// Fails as rehearse(). THROWS: OutOfMemory.
Result<void> try_states(const TrainSettings& settings, WithinBudget& out);

}  // namespace neap::app
