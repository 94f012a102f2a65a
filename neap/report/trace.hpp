// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A snapshot as a trace for chrome://tracing and ui.perfetto.dev: each call as
// a slice, the live bytes by category as a counter, the peak as an instant, and
// arrows from the calls that make the 200 largest values to their last readers.
// Times are those of a profile, or a microsecond a call where there is none.
//
// The file has at most 50 MB: where it would be larger, slices are of several
// calls, and the counter shows the one of them at which most is live.
#pragma once

#include <string>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/files/door.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Writes the file whole or not at all. A failure names it.
[[nodiscard]] NEAP_API Result<void> write_trace(files::Door& door,
                                                const std::string& path,
                                                const Snapshot& snapshot);

}  // namespace neap::report
