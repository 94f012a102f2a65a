// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A run whose plan is in a file (--plan FILE): the first command that names the
// file writes it, those after it take it as it is, and neither measure a disk
// nor search.
#pragma once

#include "exit_code.hpp"
#include "neap/compile/plan_book.hpp"
#include "within_budget.hpp"

namespace neap::app {

/// Looks at the plan file, where one is named: what it knows is set, with
/// `plan_limit`. Else as measure_spill(). Both after open_costs(). Failures:
/// the run has no budget, or is eager. THROWS: PlanFileError; IoError.
ExitCode open_plan(TrainSettings& settings);

/// meet_budget(), by the plan file where it is known, which is written
/// otherwise. REQUIRES: open_plan(settings) went well.
/// THROWS: PlanFileError; IoError; OutOfMemory.
Result<WithinBudget> meet_budget_by_plan(const TrainSettings& settings);

/// The settings of that run itself.
TrainSettings planned(const TrainSettings& settings, const WithinBudget& found);

/// "taken" or "written". REQUIRES: a plan file is named.
const char* what_became_of_plan(const TrainSettings& settings) noexcept;

/// Tells of a plan file that does not hold. RETURNS: kData.
ExitCode refuse_plan(const PlanFileError& error);

}  // namespace neap::app
