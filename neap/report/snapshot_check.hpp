// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The checks that every writer and every reader of snapshots begins with: a
// snapshot may come from a file of anybody, or be made by hand.
#pragma once

#include <string>

#include "neap/base/result.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Rows of a table, and texts: a row takes more memory than its text.
inline constexpr std::size_t kMostRows = std::size_t{1} << 22U;

/// Whether there are not too many rows, every position is within its table and
/// every size, and each sum of them, below 2^53, and what is reserved is the
/// sum of its parts. A failure's message is the fact alone. What passed can be
/// walked without further checks.
[[nodiscard]] Result<void> check_snapshot(const Snapshot& snapshot);

/// The same before a file is written; the failure names it.
[[nodiscard]] Result<void> check_before(const std::string& path,
                                        const Snapshot& snapshot);

/// The same for what is not a file. THROWS: ValueError.
void expect_sound(const Snapshot& snapshot);

}  // namespace neap::report
