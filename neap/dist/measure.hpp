// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The figures of a network between two ranks, by messages of an engine.
#pragma once

#include "neap/dist/engine.hpp"
#include "neap/dist/traffic.hpp"

namespace neap::dist {

struct MeasureOptions {
  int repeats = 101;               // of each, whose median counts
  Bytes large = 16 * 1024 * kKiB;  // swapped for the rate, some times fewer
  double deadline = 60.0;          // seconds, as GroupOptions::deadline
};

/// Called by both ranks, which get figures of their own. Swaps of eight bytes
/// take latency and two overheads, each message more of a burst two overheads,
/// and the bytes of large ones the time of the link. THROWS: ValueError unless
/// there are two ranks; RankLost, DistError; OutOfMemory.
NEAP_API Network measure_network(Engine& engine,
                                 const MeasureOptions& options = {});

}  // namespace neap::dist
