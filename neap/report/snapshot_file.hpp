// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A snapshot as a file: *.neapmem, JSON (snapshot_json.hpp) in gzip. The same
// snapshot gives the same bytes.
#pragma once

#include <string>

#include "neap/files/door.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Whole or not at all (files::write_atomically). Takes less than 512 KiB of
/// the reports' own domain, whatever the snapshot. A failure names the file;
/// kCorrupt for a snapshot that makes no sense, kTooLarge for one that
/// read_snapshot() would refuse. THROWS: OutOfMemory.
[[nodiscard]] NEAP_API Result<void> write_snapshot(files::Door& door,
                                                   const std::string& path,
                                                   const Snapshot& snapshot);

/// A snapshot in memory of the current domain. A failure names the file:
/// kCorrupt or kTruncated for what is damaged, kUnsupported for another
/// version, kTooLarge for what inflates to more than 256 MiB. THROWS:
/// OutOfMemory.
[[nodiscard]] NEAP_API Result<Snapshot> read_snapshot(files::Door& door,
                                                      const std::string& path);

}  // namespace neap::report
