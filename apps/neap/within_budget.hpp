// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A run made to fit its budget: how large the arena of its step may be, so that
// the run holds no more than that, found by rehearsals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "exit_code.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "rehearsal.hpp"

namespace neap::app {

struct WithinBudget {
  Bytes arena_limit = kUnlimited;  // as CompileOptions::arena_limit
  Bytes step_budget = kUnlimited;  // in its place: as CompileOptions::budget
  bool born_away = false;          // and weights are made in the spill file
  Rehearsal all_kept;              // with all values kept
  Rehearsal rehearsal;             // with the limit
  std::string why_not{};           // in one line; empty: the budget is met
  bool is_met() const { return why_not.empty(); }
};

/// No batch beyond this is looked at: a data set may have fewer samples.
inline constexpr std::int64_t kMostSamples = 1 << 24;

/// True where the run holds no more than the settings' budget.
bool fits(const TrainSettings& settings, const Rehearsal& rehearsal);

/// Bytes that a run holds beyond the settings' budget; 0 or less: it fits.
Bytes excess(const TrainSettings& settings, const Rehearsal& rehearsal);

/// The same of a rehearsal that is made now, and is in `now` unless memory did
/// not suffice for it: then the excess of the request that was refused, above
/// 0. Fails as rehearse(). THROWS: PlanError.
Result<Bytes> lacking(const TrainSettings& settings, Rehearsal& now);

/// A dry run without a budget whose arena has at most so many bytes; none where
/// they do not do for all programs of the run: a last batch of 7 samples has no
/// parts as small as one of 8 has. Fails as rehearse(). THROWS: OutOfMemory.
Result<std::optional<Rehearsal>> rehearse_in(const TrainSettings& settings,
                                             Bytes arena);

/// Measures the spill file that `--spill` asks for, once for all plans.
/// Failures: the run is eager; the folder does not do.
ExitCode measure_spill(TrainSettings& settings);

/// Opens the book of costs that the settings ask for; rehearsals and the run
/// share it. Failures: the file cannot be read, or is none of costs.
ExitCode open_costs(TrainSettings& settings);

/// There is no limit where there is no budget, or the run keeps it as it is; of
/// an eager run nothing can be recomputed. Fails as rehearse().
/// THROWS: OutOfMemory.
Result<WithinBudget> meet_budget(const TrainSettings& settings);

/// A few lines about a budget that is not met: what is needed, why it cannot be
/// less, and, where it is known, the batch that fits (0: none).
std::string refusal_of(const TrainSettings& settings, const WithinBudget& found,
                       std::optional<std::int64_t> max_batch);

/// Tells of it. RETURNS: kMemory.
ExitCode refuse_budget(const TrainSettings& settings, const WithinBudget& found,
                       std::optional<std::int64_t> max_batch);

/// The same of a run that began, where a request was over its budget: what
/// would be enough, eager and compiled.
std::string refusal_of(const TrainSettings& settings, const OutOfMemory& error);

/// The largest batch of which a run holds no more than the budget with all
/// values kept; 0: none.
Result<std::int64_t> largest_batch(const TrainSettings& settings,
                                   Bytes external);

}  // namespace neap::app
