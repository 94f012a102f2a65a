// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by all fuzz targets. A target defines neap::fuzz::one_input; it ends
// the process where something is wrong, and the sanitizers do where memory is.
// An input may be refused, by a Result alone: an exception is a fault, and so
// is a lack of memory, since sizes are checked before memory is asked for.
#pragma once

#include <cstdlib>
#include <string_view>

namespace neap::fuzz {

void one_input(std::string_view bytes);

/// Ends the process unless `fact`.
inline void expect(bool fact) {
  if (!fact) {
    std::abort();
  }
}

}  // namespace neap::fuzz
