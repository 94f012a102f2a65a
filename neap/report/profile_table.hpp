// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Where the time of a step went, by op and by layer, beside what the machine
// could do at most.
#pragma once

#include "neap/compile/profile.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

using MachineLimits = compiler::MachineLimits;

/// Takes some 100 ms, and 66 MiB of the reports' domain meanwhile. THROWS:
/// OutOfMemory.
NEAP_API MachineLimits measure_limits();

/// Two tables of at most 80 columns: calls, time, its share, GFLOP/s, GB/s, and
/// the share of the machine's limits (compiler::share_of()), where the snapshot
/// has them (limits_of()). What is not shown is summed in a row, so that the
/// columns add up. Calls without a time are left out; "" where none has one.
/// THROWS: OutOfMemory.
NEAP_API memory::String profile_table(const Snapshot& snapshot);

}  // namespace neap::report
