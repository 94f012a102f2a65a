// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The random words of dropout, many at a time. Compiled once for each
// instruction set.
#if defined(NEAP_KERNELS_DROPOUT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_DROPOUT_INL
#undef NEAP_KERNELS_DROPOUT_INL
#else
#define NEAP_KERNELS_DROPOUT_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/base/philox.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

inline constexpr int kDrawnBlocks = 32;  // Philox blocks made at one time
inline constexpr int kDrawnWords = 4 * kDrawnBlocks;

// base::philox for kDrawnBlocks counters in a row, written so that the compiler
// makes vectors of it.
inline void draw_words(const base::DrawKey& key, std::uint64_t first_block,
                       std::uint32_t* words) noexcept {
  alignas(64) std::uint32_t c[4][kDrawnBlocks];
  for (int i = 0; i < kDrawnBlocks; ++i) {
    const std::uint64_t block = first_block + static_cast<std::uint64_t>(i);
    c[0][i] = static_cast<std::uint32_t>(block);
    c[1][i] = static_cast<std::uint32_t>(block >> 32U);
    c[2][i] = static_cast<std::uint32_t>(key.draw);
    c[3][i] = static_cast<std::uint32_t>(key.draw >> 32U);
  }
  auto k0 = static_cast<std::uint32_t>(key.seed);
  auto k1 = static_cast<std::uint32_t>(key.seed >> 32U);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kDrawnBlocks; ++i) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0][i];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c[2][i];
      c[0][i] = static_cast<std::uint32_t>(p1 >> 32U) ^ c[1][i] ^ k0;
      c[2][i] = static_cast<std::uint32_t>(p0 >> 32U) ^ c[3][i] ^ k1;
      c[1][i] = static_cast<std::uint32_t>(p1);
      c[3][i] = static_cast<std::uint32_t>(p0);
    }
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  for (int i = 0; i < kDrawnBlocks; ++i) {
    for (int k = 0; k < 4; ++k) {
      words[4 * i + k] = c[k][i];
    }
  }
}

/// Least word >> 8 (uniform_f32 times 2^24) with which an element is kept.
inline std::uint32_t keep_threshold(double p) noexcept {
  return static_cast<std::uint32_t>(std::ceil(p * 0x1.0p24));
}

/// Calls body(i, word) for i in [0, count) with the words of the elements
/// from `first` on.
template <class Body>
HWY_INLINE void for_each_word(const base::DrawKey& key, std::int64_t first,
                              std::int64_t count, const Body& body) {
  alignas(64) std::uint32_t words[kDrawnWords];
  std::int64_t i = 0;
  while (i < count) {
    const auto at = static_cast<std::uint64_t>(first + i);
    const std::uint64_t skip = at % 4;
    draw_words(key, at / 4, words);
    const std::int64_t run =
        std::min(count - i, kDrawnWords - static_cast<std::int64_t>(skip));
    for (std::int64_t k = 0; k < run; ++k) {
      body(i + k, words[skip + static_cast<std::uint64_t>(k)]);
    }
    i += run;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif  // the toggle
