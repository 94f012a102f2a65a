// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Conversion of one element between any two dtypes, for cast and fill. The
// rules stand in cast.hpp.
#pragma once

#include <type_traits>

#include "neap/base/dtype.hpp"
#include "neap/base/saturate.hpp"

namespace neap::kernels {

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
    return base::saturate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace neap::kernels
