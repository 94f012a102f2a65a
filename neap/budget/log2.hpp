// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Logarithms of whole numbers by whole numbers: the same on every machine.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace neap::budget {

/// One octave.
inline constexpr std::int64_t kOctave = 256;

/// About kOctave log2(x), rising with x, linear within an octave; for x below 1
/// as for 1.
constexpr std::int64_t log2_of(std::int64_t x) noexcept {
  const auto bits = static_cast<std::uint64_t>(x < 1 ? 1 : x);
  const int whole = static_cast<int>(std::bit_width(bits)) - 1;
  const std::uint64_t rest = bits - (std::uint64_t{1} << whole);
  const std::uint64_t part =
      whole <= 8 ? rest << (8 - whole) : rest >> (whole - 8);
  return whole * kOctave + static_cast<std::int64_t>(part);
}

/// The largest number whose log2_of() is at most `log`; 0: there is none.
constexpr std::int64_t most_with_log2(std::int64_t log) noexcept {
  if (log < 0) {
    return 0;
  }
  const std::int64_t whole = log / kOctave;
  const std::int64_t part = log % kOctave;
  if (whole >= 62) {
    return std::numeric_limits<std::int64_t>::max();
  }
  const std::int64_t one = std::int64_t{1} << whole;
  return whole < 8 ? one + (part >> (8 - whole))
                   : one + ((part + 1) << (whole - 8)) - 1;
}

}  // namespace neap::budget
