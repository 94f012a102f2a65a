// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How much of a kind a tokenizer.json may have. Real ones have a hundredth.
#pragma once

#include <cstdint>
#include <string_view>

#include "neap/base/bytes.hpp"
#include "neap/text/refused.hpp"

namespace neap::text {

inline constexpr Bytes kMostJson = 256 * kMiB;
inline constexpr int kMostLevels = 8;  // of sequences in sequences
inline constexpr std::size_t kMostSteps = 64;
inline constexpr std::int64_t kMostId = 16'777'215;
inline constexpr std::int64_t kMostIds = std::int64_t{1} << 62U;
inline constexpr std::int64_t kMostPadded = 1 << 20;  // ids of a text
inline constexpr std::size_t kLongestToken = 4096;  // bytes

inline void check_steps(std::size_t count, std::string_view where) {
  if (count > kMostSteps) {
    refuse(FailureKind::kTooLarge, "{}: {} steps, at most {} are taken", where,
           count, kMostSteps);
  }
}

}  // namespace neap::text
