// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The rates of a spill file that schedules count on.
#pragma once

#include <optional>

#include "neap/budget/problem.hpp"
#include "neap/compile/options.hpp"

namespace neap::compiler {

/// The options with rates: those that are not given are measured, in a file of
/// their own in the folder, and 40 % of writes and 60 % of reads, rounded down
/// to a quarter of an octave, are counted on, so that noise seldom changes a
/// plan.
/// Unchanged without a folder. THROWS: IoError; OutOfMemory.
NEAP_API SpillOptions with_rates(const SpillOptions& options);

/// The file system of the folder.
files::Door& door_of(const SpillOptions& options);

inline constexpr double kNanosecondsOfDay = 24 * 3600 * 1e9;

/// Nothing without a folder. `price`: nanoseconds of a run with all values
/// kept, of which a day has so many. THROWS: as with_rates().
std::optional<budget::Channel> channel_of(const SpillOptions& options,
                                          std::int64_t price);

}  // namespace neap::compiler
