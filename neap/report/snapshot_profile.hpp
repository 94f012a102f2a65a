// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The time of each call, and its share of what the machine can do, added to a
// snapshot.
#pragma once

#include "neap/compile/profile.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// The time of each call and, where the profile has limits, these and the share
/// of them. THROWS: ValueError where the snapshot is of a program with other
/// calls.
NEAP_API void add_times(Snapshot& snapshot, const compiler::Profile& profile);

/// The limits that the shares of a snapshot are of; 0: it has none.
NEAP_API compiler::MachineLimits limits_of(const Snapshot& snapshot) noexcept;

}  // namespace neap::report
