// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A draw is a pure
// function of (key, counter), so any thread may compute any part of it.
#pragma once

#include <array>
#include <cstdint>

namespace neap::base {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Four random words for one counter value.
constexpr PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) noexcept {
  constexpr std::uint64_t kMul0 = 0xD2511F53U;
  constexpr std::uint64_t kMul1 = 0xCD9E8D57U;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kMul0 * counter[0];
    const std::uint64_t p1 = kMul1 * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32U) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32U) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(p0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

/// The name of one random op of a program: the generator's seed and the number
/// of the draw in program order. The logical element index is the counter.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint64_t draw = 0;

  /// The four words for elements [4 * block, 4 * block + 4).
  constexpr PhiloxBlock block(std::uint64_t block) const noexcept {
    return philox({static_cast<std::uint32_t>(block),
                   static_cast<std::uint32_t>(block >> 32U),
                   static_cast<std::uint32_t>(draw),
                   static_cast<std::uint32_t>(draw >> 32U)},
                  {static_cast<std::uint32_t>(seed),
                   static_cast<std::uint32_t>(seed >> 32U)});
  }
  /// The word of one element.
  constexpr std::uint32_t word(std::uint64_t element) const noexcept {
    return block(element / 4)[element % 4];
  }
};

/// Uniform in [0, 1) with 24 random bits.
constexpr float uniform_f32(std::uint32_t word) noexcept {
  return static_cast<float>(word >> 8U) * 0x1.0p-24F;
}

/// Uniform in [0, 1) with 53 random bits of two words.
constexpr double uniform_f64(std::uint32_t high, std::uint32_t low) noexcept {
  const std::uint64_t bits =
      (static_cast<std::uint64_t>(high) << 21U) ^ (low >> 11U);
  return static_cast<double>(bits) * 0x1.0p-53;
}

}  // namespace neap::base
