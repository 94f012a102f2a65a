// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The draws of this room: one number for each purpose and epoch, far from those
// of a model's generator, so that one seed may serve them all. Of this room
// alone.
#pragma once

#include <cstdint>

#include "neap/base/philox.hpp"

namespace neap::data {

enum class Purpose : std::uint64_t {
  kShuffle = 8,
  kAugment = 9,
  kText = 10,
  kTransform = 11,
  kMixup = 12,
  kBuckets = 13,
};

constexpr base::DrawKey draw_key(std::uint64_t seed, Purpose purpose,
                                 std::int64_t epoch) noexcept {
  constexpr unsigned kEpochBits = 60;
  constexpr std::uint64_t kEpochs = (std::uint64_t{1} << kEpochBits) - 1;
  return {seed, static_cast<std::uint64_t>(purpose) << kEpochBits |
                    (static_cast<std::uint64_t>(epoch) & kEpochs)};
}

/// In [0, count): multiply-shift, its bias below count / 2^32.
constexpr std::int64_t drawn_below(std::uint32_t word,
                                   std::int64_t count) noexcept {
  return static_cast<std::int64_t>(
      (std::uint64_t{word} * static_cast<std::uint64_t>(count)) >> 32U);
}

}  // namespace neap::data
