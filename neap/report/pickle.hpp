// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A snapshot as a file for PyTorch's memory_viz (pytorch.org/memory_viz, and
// torch/cuda/_memory_viz.py): a pickle of protocol 4, with the operations that
// the viewer's own reader knows.
//
// Two segments: the arenas of all spaces, one above the other, which is empty
// again after the last event, and what stays. Their sizes together are what is
// reserved; an arena of pages may look larger, since its addresses have gaps.
// Events are in the order of calls, where sizes count whole units, and their
// times those of the trace (trace.hpp). Blocks of no bytes are left out.
#pragma once

#include <string>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/files/door.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Writes the file whole or not at all. A failure names it.
[[nodiscard]] NEAP_API Result<void> write_pickle(files::Door& door,
                                                 const std::string& path,
                                                 const Snapshot& snapshot);

}  // namespace neap::report
