// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Conversion of one element between any two dtypes, for cast and fill. The
// rules stand in cast.hpp.
#pragma once

#include <limits>
#include <type_traits>

#include "neap/base/dtype.hpp"

namespace neap::kernels {

/// Truncates toward zero; saturates; NaN gives 0.
template <class To, class From>
To truncate(From x) noexcept {
  // Both bounds are powers of two (or 0), exact in every float type.
  constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From kEnd =
      static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * From(2);
  if (x >= kEnd) {
    return std::numeric_limits<To>::max();
  }
  if (x <= kLow) {
    return std::numeric_limits<To>::min();
  }
  return x == x ? static_cast<To>(x) : To(0);
}

template <class To, class From>
To convert(From x) noexcept {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return BFloat16(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> &&
                       std::is_floating_point_v<From>) {
    return truncate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace neap::kernels
