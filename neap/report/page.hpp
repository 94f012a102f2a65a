// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The memory page: one HTML file that shows where every byte of a step was, and
// when. It needs no network, no server and no other file.
#pragma once

#include <string>

#include "neap/files/door.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Writes the page of `a`, or of both beside each other, with what changed from
/// `a` to `b`: whole or not at all (files::write_atomically). Takes less than 1
/// MiB of the reports' own domain, whatever the snapshots. Names in a snapshot
/// are shown as they are, and never run. A failure names the file; kCorrupt for
/// a snapshot that makes no sense. THROWS: OutOfMemory.
[[nodiscard]] NEAP_API Result<void> write_page(files::Door& door,
                                               const std::string& path,
                                               const Snapshot& a,
                                               const Snapshot* b = nullptr);

}  // namespace neap::report
