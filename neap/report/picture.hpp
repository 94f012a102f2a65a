// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A snapshot as a drawing (SVG, 900 wide, no script): calls to the right,
// addresses upward, the 2 000 blocks that take most address x time, coloured by
// category. Workspace, recomputed and fetched values are hatched, and a line
// marks the peak. Spaces are above each other. Light or dark, as the reader's
// system is set.
#pragma once

#include <string>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/files/door.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Writes the file whole or not at all. A failure names it.
[[nodiscard]] NEAP_API Result<void> write_svg(files::Door& door,
                                              const std::string& path,
                                              const Snapshot& snapshot);

}  // namespace neap::report
