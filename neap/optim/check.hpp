// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks of settings, for sources of this room.
#pragma once

#include <cmath>

#include "neap/base/raise.hpp"

namespace neap::optim {

/// THROWS: ValueError unless `value` is finite and not negative.
inline void check_not_negative(const char* what, const char* setting,
                               double value) {
  if (!std::isfinite(value) || value < 0.0) {
    base::raise<ValueError>("{}: {} is {}, expected a finite number >= 0", what,
                            setting, value);
  }
}

}  // namespace neap::optim
