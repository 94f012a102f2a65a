// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Conversions of a number to an integer type that are defined for every value:
// what does not fit becomes the nearest that does, NaN becomes 0. Plain
// functions of values, for any thread.
#pragma once

#include <limits>
#include <type_traits>
#include <utility>

namespace neap::base {

/// Floats are truncated toward zero.
template <class To, class From>
constexpr To saturate(From x) noexcept {
  static_assert(std::is_integral_v<To> && !std::is_same_v<To, bool>);
  using Limits = std::numeric_limits<To>;
  if constexpr (std::is_floating_point_v<From>) {
    // Both bounds are powers of two (or 0), exact in every float type.
    constexpr From kLow = static_cast<From>(Limits::min());
    constexpr To kHalf = static_cast<To>(Limits::max() / 2 + 1);
    constexpr From kEnd = static_cast<From>(kHalf) * From(2);
    if (x >= kEnd) {
      return Limits::max();
    }
    if (x <= kLow) {
      return Limits::min();
    }
    return x == x ? static_cast<To>(x) : To(0);
  } else {
    if (std::cmp_greater(x, Limits::max())) {
      return Limits::max();
    }
    return std::cmp_less(x, Limits::min()) ? Limits::min() : static_cast<To>(x);
  }
}

}  // namespace neap::base
