// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Snapshots and their differences as tables: for a terminal (at most 80
// columns) and as Markdown. Rows beyond the largest are one row, so that every
// table adds up. Strings are of the reports' domain.
#pragma once

#include "neap/base/api.hpp"
#include "neap/report/snapshot_diff.hpp"

namespace neap::report {

NEAP_API memory::String to_text(const Snapshot& snapshot);
NEAP_API memory::String to_markdown(const Snapshot& snapshot);
NEAP_API memory::String to_text(const Diff& diff);
/// Begins with a sentence: "peak +3.1 MiB: activations of h.3 +2.0 MiB, ...".
NEAP_API memory::String to_markdown(const Diff& diff);

}  // namespace neap::report
