// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Changes that would make a run fit its budget: single settings, each tried by
// a dry run and the same planner, and priced.
#pragma once

#include <string>
#include <vector>

#include "within_budget.hpp"

namespace neap::app {

struct Remedy {
  std::string change;    // as on the command line: "--batch 16"
  double percent = 0.0;  // of extra time a sample, predicted
  std::string note{};    // what else it costs
};

/// The remedies that are known to fit, cheapest first. REQUIRES: a compiled run
/// that meet_budget() does not make fit. `kept_batch`: the largest that fits
/// with all values kept; 0: none. THROWS: OutOfMemory.
std::vector<Remedy> remedies_for(const TrainSettings& settings,
                                 std::int64_t kept_batch);

}  // namespace neap::app
