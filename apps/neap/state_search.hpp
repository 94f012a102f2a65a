// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A budget that is met by an optimizer's state and weights in the spill file. A
// limit of the arena says nothing of these, so that the step is given a budget
// of its own, and finds its plan within it. Where the weights themselves are
// too much, they are made in the file.
#pragma once

#include "within_budget.hpp"

namespace neap::app {

/// Where the settings have a spill file, and the budget was not met, or for
/// more than 5 % of the time: takes a plan with those in the file into `out`,
/// if the run fits so for less. Fails as rehearse(). THROWS: OutOfMemory.
Result<void> try_states(const TrainSettings& settings, WithinBudget& out);

}  // namespace neap::app
