// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A random order of 0, 1, ..., count - 1, computed from one draw: every order
// is as likely as any other (Durstenfeld, CACM 1964), and the steps come one
// after the other, so that threads change nothing.
#pragma once

#include <cstdint>
#include <utility>

#include "neap/base/philox.hpp"

namespace neap::base {

/// A whole number in [0, span), without bias: a word that belongs to the
/// incomplete last copy of the range is drawn again (Lemire, 2019). `element`
/// names the number within the draw; attempts beyond the two words of its block
/// take the blocks `stride` further on. REQUIRES: span > 0.
constexpr std::uint64_t unbiased_below(const DrawKey& key, std::uint64_t span,
                                       std::uint64_t element,
                                       std::uint64_t stride) noexcept {
  for (std::uint64_t at = element;; at += stride) {
    const PhiloxBlock words = key.block(at);
    for (std::size_t i = 0; i < 4; i += 2) {
      const std::uint64_t word =
          std::uint64_t{words[i]} << 32U | std::uint64_t{words[i + 1]};
      // The 2^64 mod span lowest words would make their remainders likelier.
      if (word >= span || word >= (0 - span) % span) {
        return word % span;
      }
    }
  }
}

/// y[i stride] for i below count. REQUIRES: T holds count - 1.
template <class T>
constexpr void draw_permutation(const DrawKey& key, std::int64_t count,
                                std::int64_t stride, T* y) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    y[i * stride] = static_cast<T>(i);
  }
  const auto all = static_cast<std::uint64_t>(count);
  for (std::int64_t left = count; left > 1; --left) {
    const auto span = static_cast<std::uint64_t>(left);
    const std::uint64_t pick = unbiased_below(key, span, span - 1, all);
    std::swap(y[(left - 1) * stride],
              y[static_cast<std::int64_t>(pick) * stride]);
  }
}

}  // namespace neap::base
