// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For sources of this room.
#pragma once

#include <cstdint>

namespace neap::planner {

/// The least multiple of `step` that is at least `value`, where neither is
/// negative. Most steps are 1: no division then.
constexpr std::int64_t round_up(std::int64_t value,
                                std::int64_t step) noexcept {
  if (step == 1) {
    return value;
  }
  const std::int64_t over = value % step;
  return over == 0 ? value : value + (step - over);
}

}  // namespace neap::planner
