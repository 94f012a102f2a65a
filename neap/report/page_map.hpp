// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The map of the arena for a browser that runs no script: an SVG, calls to the
// right and addresses upward, and what its colours mean.
#pragma once

#include "neap/report/sink.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// The largest 2 000 blocks, a path for each colour: at most 64 KB. Nothing for
/// a snapshot without blocks. REQUIRES: check_snapshot() passed. THROWS:
/// OutOfMemory.
void put_map(Sink& out, const Snapshot& snapshot);

}  // namespace neap::report
