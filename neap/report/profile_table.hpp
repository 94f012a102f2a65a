// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Where the time of a step went, by op and by layer, beside what the machine
// could do at most.
#pragma once

#include "neap/report/snapshot.hpp"

namespace neap::report {

/// The most that this machine does with the context's threads, as measured; 0:
/// not known.
struct MachineLimits {
  double flops = 0.0;  // a second, in a product of f32 matrices
  double bytes = 0.0;  // read and written a second, in a copy of 32 MiB
};

/// Takes some 50 ms, and 66 MiB of the reports' domain meanwhile. THROWS:
/// OutOfMemory.
NEAP_API MachineLimits measure_limits();

/// Two tables of at most 80 columns: calls, time, its share, GFLOP/s, GB/s, and
/// the share of the machine's limit: the time that its arithmetic or its
/// traffic, whichever takes longer, would need at the limits, of the time that
/// it took. It may be above 100 %: caches are faster than memory. What is not
/// shown is summed in a row, so that the columns add up. Calls without a time
/// are left out; "" where none has one. THROWS: OutOfMemory.
NEAP_API memory::String profile_table(const Snapshot& snapshot,
                                      const MachineLimits& limits = {});

}  // namespace neap::report
