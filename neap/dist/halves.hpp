// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How an array is halved between ranks, and cut into chunks. For sources of
// this room.
#pragma once

#include <algorithm>
#include <cstdint>

#include "neap/dist/exchange.hpp"

namespace neap::dist {

/// Halves begin on whole cache lines, so that no two ranks divide a vector.
inline constexpr std::int64_t kUnitBytes = 64;

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const noexcept { return end - begin; }
};

/// The half of a range for the ranks whose bit is not set, or is.
inline Range half_of(const Range& range, bool is_upper,
                     std::int64_t unit) noexcept {
  const std::int64_t units = (range.size() + unit - 1) / unit;
  const std::int64_t middle =
      std::min(range.begin + (units + 1) / 2 * unit, range.end);
  return is_upper ? Range{middle, range.end} : Range{range.begin, middle};
}

/// The messages that bytes between two ranks are.
inline std::int64_t chunks_of(std::int64_t bytes) noexcept {
  return (bytes + kChunkBytes - 1) / kChunkBytes;
}

}  // namespace neap::dist
