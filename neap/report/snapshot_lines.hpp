// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Leaves the lines of the program out of a snapshot, for a file that is given
// away.
#pragma once

#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Calls and blocks have no line any more, and the table of texts has none of
/// theirs; sentences of refusals and leaks stay as they are. REQUIRES:
/// check_snapshot() passed. THROWS: OutOfMemory; the snapshot is unchanged
/// then.
NEAP_API void drop_lines(Snapshot& snapshot);

}  // namespace neap::report
