// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The elements of random tensors, computed from the four words that a draw has
// for each: in one place, so that eager creation and the kernel give equal
// bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "neap/base/normal.hpp"
#include "neap/base/saturate.hpp"

namespace neap::base {

/// Uniform in [0, 1): 24 random bits for float, 53 for double.
template <class T>
constexpr T drawn_uniform(const PhiloxBlock& words) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    return uniform_f32(words[0]);
  } else {
    return uniform_f64(words[0], words[1]);
  }
}

/// Normal, mean 0 and variance 1.
template <class T>
T drawn_normal(const PhiloxBlock& words) noexcept {
  return static_cast<T>(normal_f64(words));
}

/// Integers in [low, high). Without a sign no difference or sum overflows.
struct DrawnInteger {
  std::uint64_t start = 0;
  std::uint64_t span = 1;

  /// REQUIRES: low < high.
  constexpr DrawnInteger(std::int64_t low, std::int64_t high) noexcept
      : start(static_cast<std::uint64_t>(low)),
        span(static_cast<std::uint64_t>(high) - start) {}

  constexpr std::int64_t operator()(const PhiloxBlock& words) const noexcept {
    return of_uniform(uniform_f64(words[0], words[1]));
  }
  /// REQUIRES: u in [0, 1).
  constexpr std::int64_t of_uniform(double u) const noexcept {
    const auto step = saturate<std::uint64_t>(u * static_cast<double>(span));
    // Beyond 2^53 the product may round up to the span.
    return static_cast<std::int64_t>(start + std::min(step, span - 1));
  }
  /// True where products with the span fit an integer with a sign, which
  /// processors convert to in one instruction.
  constexpr bool is_narrow() const noexcept { return span < 1ULL << 53U; }
  /// The same number. REQUIRES: is_narrow(); u in [0, 1).
  constexpr std::int64_t of_uniform_narrow(double u) const noexcept {
    const auto scale = static_cast<double>(static_cast<std::int64_t>(span));
    const auto step = static_cast<std::int64_t>(u * scale);
    return static_cast<std::int64_t>(start + static_cast<std::uint64_t>(step));
  }
};

}  // namespace neap::base
