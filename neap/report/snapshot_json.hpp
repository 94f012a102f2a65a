// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A snapshot as JSON: columns of numbers, and one table of texts that they
// refer to. It is what a .neapmem file compresses and what a page has in it.
//
//   {"neapmem":1,"title":"...","eager":false,"texts":["","relu",...],
//    "sums":{"reserved":...},"calls":{"op":[1,...],...},"blocks":{...},
//    "reads":{...},"stays":{...},"steps":{...},"refusals":[],"leaks":[]}
//
// Numbers are whole and below 2^53; -1 is none. Keys that a reader does not
// know are skipped; another number under the first key is another format.
#pragma once

#include "neap/report/sink.hpp"
#include "neap/report/snapshot.hpp"
#include "neap/report/snapshot_check.hpp"

namespace neap::report {

inline constexpr std::int64_t kSnapshotVersion = 1;

/// REQUIRES: check_snapshot() passed. THROWS: OutOfMemory.
void put_snapshot(Sink& out, const Snapshot& snapshot);

/// A failure's message is the fact alone, like "calls.op: expected ':'". What
/// is returned has passed check_snapshot(). THROWS: OutOfMemory.
[[nodiscard]] Result<Snapshot> parse_snapshot(std::string_view text);

}  // namespace neap::report
