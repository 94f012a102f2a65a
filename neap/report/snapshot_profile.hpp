// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The time of each call, added to a snapshot.
#pragma once

#include "neap/compile/profile.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// The time of each call. THROWS: ValueError where the snapshot is of a program
/// with other calls.
NEAP_API void add_times(Snapshot& snapshot, const compiler::Profile& profile);

}  // namespace neap::report
