// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The text of neap doctor about a snapshot that a program wrote at its end.
#pragma once

#include "neap/report/snapshot.hpp"

namespace neap::app {

/// Whether something was still live at the end.
bool has_leaks(const report::Snapshot& snapshot);

/// Leaks and growth with their lines and holders, refusals, and the sums and
/// the peak as neap report has them.
memory::String findings(const report::Snapshot& snapshot);

/// Why there may be no snapshot of a program that ended so (0: no signal), and
/// what to do; a sentence or two.
memory::String why_nothing(int signal);

}  // namespace neap::app
