// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Memory that is reserved at the peak of a snapshot, as folded stacks, for
// flame graphs (flamegraph.pl, speedscope, inferno): a line each of
//
//   layer;category;op;line bytes
//
// where the layer's path is a frame for each part. What stays has the rest of
// its owner's name in place of op and line; rounding, gaps, the program, idle
// pages and the allocator's rounding are lines of their own. The numbers add up
// to Sums::reserved.
#pragma once

#include <string>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/files/door.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Writes the file whole or not at all. A failure names it.
[[nodiscard]] NEAP_API Result<void> write_folded(files::Door& door,
                                                 const std::string& path,
                                                 const Snapshot& snapshot);

}  // namespace neap::report
