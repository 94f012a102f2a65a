// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The files of --page, --snapshot and --trace for a step that was planned by a
// dry run, also where its budget is refused.
#pragma once

#include <string_view>

#include "within_budget.hpp"

namespace neap::app {

/// Writes those that the settings name, of the step as it was planned: where
/// the budget is not met, with all values kept, and `refusal` among what was
/// refused. Tells of a failure and RETURNS kData or kOutput. THROWS: as
/// rehearse().
ExitCode show_plan(const TrainSettings& settings, const WithinBudget& found,
                   std::string_view refusal);

/// refuse_budget(), and the files: whether they could be written or not, the
/// status is that of the refusal. RETURNS: kMemory.
ExitCode refuse_and_show(const TrainSettings& settings,
                         const WithinBudget& found,
                         std::optional<std::int64_t> max_batch);

}  // namespace neap::app
