// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Reading arguments and settings, and planning a step, touch a lot of code that
// training never runs again. This lets go of it.
#pragma once

namespace neap::app {

/// Unmaps from this process every resident page of code and constants (of the
/// program and its libraries). Pages that are still needed come back from the
/// system's file cache at the next touch. Saves 2 to 3 MiB of resident set.
void drop_startup_pages() noexcept;

}  // namespace neap::app
