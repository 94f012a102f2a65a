// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The parts of the memory page that need no script: its sums, and the largest
// blocks at the peak and of what stays.
#pragma once

#include "neap/report/sink.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// REQUIRES of both: check_snapshot() passed. THROWS: OutOfMemory.
void put_head(Sink& out, const Snapshot& a, const Snapshot* b);
void put_tables(Sink& out, const Snapshot& a, const Snapshot* b);

}  // namespace neap::report
