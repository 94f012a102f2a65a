// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The time of moving a value to the file or back, in whole nanoseconds.
#pragma once

#include "neap/budget/problem.hpp"

namespace neap::budget {

inline constexpr std::int64_t kSecond = 1'000'000'000;  // ns
inline constexpr std::int64_t kMostBusPrice = std::int64_t{1} << 40U;

/// Rounded up. REQUIRES: 0 < rate <= Channel::kMostRate, and a result of at
/// most 2^62.
constexpr std::int64_t time_to_move(std::int64_t size,
                                    std::int64_t rate) noexcept {
  std::int64_t whole = size / rate;
  std::int64_t rest = size % rate;
  for (int thousands = 0; thousands < 3; ++thousands) {
    rest *= 1000;
    whole = whole * 1000 + rest / rate;
    rest %= rate;
  }
  return whole + (rest > 0 ? 1 : 0);
}

/// The time that one move adds to computing, rounded up. REQUIRES: as check()
/// wants it.
constexpr std::int64_t bus_price_of(std::int64_t size,
                                    const Channel& channel) noexcept {
  constexpr std::int64_t kPart = (std::int64_t{1} << 20U) - 1;
  return (size >> 20U) * channel.bus_price +
         (((size & kPart) * channel.bus_price + kPart) >> 20U);
}

}  // namespace neap::budget
