// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Packing and register tile of products whose factors are rounded to bf16. A
// factor is here a pair: the bf16 of an even k in the low half of 32 bits, that
// of the next k in the high half, so that a vector of pairs lies as a vector of
// f32 does, and a sum takes two products at once. Compiled for AVX-512 with
// AVX512_BF16, by raw intrinsics, which Highway does not have; run only where
// has_bf16_dot().
#if defined(NEAP_KERNELS_GEMM_BF16_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_GEMM_BF16_INL
#undef NEAP_KERNELS_GEMM_BF16_INL
#else
#define NEAP_KERNELS_GEMM_BF16_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "hwy/highway.h"
#include "neap/kernels/gemm/bf16_dot.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace neap::kernels::HWY_NAMESPACE {

// Lanes of 32 bits in a vector.
inline constexpr std::int64_t kPairLanes = 16;

/// The first `count` lanes, for a count that may exceed all or be below 0.
HWY_INLINE __mmask16 first_lanes(std::int64_t count) {
  const auto lanes = std::clamp<std::int64_t>(count, 0, kPairLanes);
  return static_cast<__mmask16>((1U << static_cast<unsigned>(lanes)) - 1U);
}

/// Pairs of 32 neighbours, of which `count` exist; the others are 0.
HWY_INLINE __m512i pairs_along(const float* from, std::int64_t count) {
  __m512 low;
  __m512 high;
  if (count >= 2 * kPairLanes) {
    low = _mm512_loadu_ps(from);
    high = _mm512_loadu_ps(from + kPairLanes);
  } else {
    low = _mm512_maskz_loadu_ps(first_lanes(count), from);
    high = _mm512_maskz_loadu_ps(first_lanes(count - kPairLanes),
                                 from + kPairLanes);
  }
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

/// Pairs of low's elements and high's.
HWY_INLINE __m512i zip_pairs(__m512 low, __m512 high) {
  const __m512i zip = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11,
                                       26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21,
                                       5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(
      zip, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
}

/// to[j * to_step + p] = the pair of from[j * from_step + 2 p] and the element
/// behind it, for j in [0, rows) and p in [0, pairs of depth).
inline void pack_pairs_along(const float* from, std::int64_t from_step,
                             std::int64_t rows, std::int64_t depth,
                             Bf16Pair* HWY_RESTRICT to, std::int64_t to_step) {
  for (std::int64_t j = 0; j < rows; ++j) {
    const float* row = from + j * from_step;
    Bf16Pair* out = to + j * to_step;
    for (std::int64_t k = 0; k < depth; k += 2 * kPairLanes) {
      const __m512i pairs = pairs_along(row + k, depth - k);
      if (depth - k >= 2 * kPairLanes) {
        _mm512_storeu_si512(out + k / 2, pairs);
      } else {
        _mm512_mask_storeu_epi32(out + k / 2, first_lanes((depth - k + 1) / 2),
                                 pairs);
      }
    }
  }
}

/// The transpose of 16 x 16 pairs, of which the first `count` rows are stored,
/// `step` apart.
HWY_INLINE void store_transposed(__m512i (&row)[kPairLanes], Bf16Pair* to,
                                 std::int64_t step, std::int64_t count) {
  __m512i x[kPairLanes];
#pragma GCC unroll 8
  for (int i = 0; i < kPairLanes; i += 2) {
    x[i] = _mm512_unpacklo_epi32(row[i], row[i + 1]);
    x[i + 1] = _mm512_unpackhi_epi32(row[i], row[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPairLanes; i += 4) {
    row[i] = _mm512_unpacklo_epi64(x[i], x[i + 2]);
    row[i + 1] = _mm512_unpackhi_epi64(x[i], x[i + 2]);
    row[i + 2] = _mm512_unpacklo_epi64(x[i + 1], x[i + 3]);
    row[i + 3] = _mm512_unpackhi_epi64(x[i + 1], x[i + 3]);
  }
  // Block b of row[4 g + i] is row 4 b + i, columns of group g.
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512i even01 =
        _mm512_shuffle_i32x4(row[i], row[i + 4], 0x88);  // blocks 0 2
    const __m512i odd01 = _mm512_shuffle_i32x4(row[i], row[i + 4], 0xDD);
    const __m512i even23 = _mm512_shuffle_i32x4(row[i + 8], row[i + 12], 0x88);
    const __m512i odd23 = _mm512_shuffle_i32x4(row[i + 8], row[i + 12], 0xDD);
    x[i] = _mm512_shuffle_i32x4(even01, even23, 0x88);
    x[i + 4] = _mm512_shuffle_i32x4(odd01, odd23, 0x88);
    x[i + 8] = _mm512_shuffle_i32x4(even01, even23, 0xDD);
    x[i + 12] = _mm512_shuffle_i32x4(odd01, odd23, 0xDD);
  }
  if (count >= kPairLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < kPairLanes; ++i) {
      _mm512_storeu_si512(to + i * step, x[i]);
    }
    return;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kPairLanes; ++i) {
    if (i < count) {
      _mm512_storeu_si512(to + i * step, x[i]);
    }
  }
}

/// A panel of B that lies along k: 16 columns at a time, through registers.
template <std::int64_t kWidth>
void pack_panel_along(const float* from, std::int64_t across,
                      std::int64_t width, std::int64_t depth,
                      Bf16Pair* HWY_RESTRICT to) {
  for (std::int64_t k = 0; k < depth; k += 2 * kPairLanes) {
    for (std::int64_t begin = 0; begin < kWidth; begin += kPairLanes) {
      __m512i row[kPairLanes];
#pragma GCC unroll 16
      for (int j = 0; j < kPairLanes; ++j) {
        row[j] = begin + j < width
                     ? pairs_along(from + (begin + j) * across + k, depth - k)
                     : _mm512_setzero_si512();
      }
      store_transposed(row, to + k / 2 * kWidth + begin, kWidth,
                       (depth - k + 1) / 2);
    }
  }
}

/// to[p * to_step + j] = the pair of from[2 p * from_step + j] and of what lies
/// a row behind it, 0 behind the last, for j in [0, columns) and the pairs p of
/// rows.
inline void pack_pairs_across(const float* from, std::int64_t from_step,
                              std::int64_t rows, std::int64_t columns,
                              Bf16Pair* HWY_RESTRICT to, std::int64_t to_step) {
  for (std::int64_t row = 0; row < rows; row += 2) {
    const float* even = from + row * from_step;
    Bf16Pair* out = to + row / 2 * to_step;
    for (std::int64_t j = 0; j < columns; j += kPairLanes) {
      const __mmask16 lanes = first_lanes(columns - j);
      const __m512 low = _mm512_maskz_loadu_ps(lanes, even + j);
      const __m512 high =
          row + 1 < rows ? _mm512_maskz_loadu_ps(lanes, even + from_step + j)
                         : _mm512_setzero_ps();
      _mm512_mask_storeu_epi32(out + j, lanes, zip_pairs(low, high));
    }
  }
}

/// A panel whose columns lie side by side, one row a k.
template <std::int64_t kWidth>
void pack_panel_across(const float* from, std::int64_t along,
                       std::int64_t width, std::int64_t depth,
                       Bf16Pair* HWY_RESTRICT to) {
  for (std::int64_t k = 0; k < depth; k += 2) {
    const float* even = from + k * along;
#pragma GCC unroll 2
    for (std::int64_t j = 0; j < kWidth; j += kPairLanes) {
      const __mmask16 lanes = first_lanes(width - j);
      const __m512 low = _mm512_maskz_loadu_ps(lanes, even + j);
      const __m512 high = k + 1 < depth
                              ? _mm512_maskz_loadu_ps(lanes, even + along + j)
                              : _mm512_setzero_ps();
      _mm512_mask_storeu_epi32(to + k / 2 * kWidth + j, first_lanes(kWidth - j),
                               zip_pairs(low, high));
    }
  }
}

/// to[p * kWidth + j] = the pair of from[j * across + 2 p * along] and of what
/// lies `along` behind it, for j in [0, width) and the pairs p of depth; the
/// lanes from width to kWidth become 0.
template <std::int64_t kWidth>
HWY_NOINLINE void pack_pairs(const float* from, std::int64_t across,
                             std::int64_t along, std::int64_t width,
                             std::int64_t depth, Bf16Pair* HWY_RESTRICT to) {
  if constexpr (kWidth % kPairLanes == 0) {
    if (along == 1) {
      pack_panel_along<kWidth>(from, across, width, depth, to);
      return;
    }
  }
  if (across == 1) {
    pack_panel_across<kWidth>(from, along, width, depth, to);
    return;
  }
  for (std::int64_t k = 0; k < depth; k += 2) {
    for (std::int64_t j = 0; j < kWidth; ++j) {
      const float* even = from + j * across + k * along;
      Bf16Pair pair = 0;
      if (j < width) {
        pair = bf16_factor(*even);
        pair |= k + 1 < depth ? Bf16Pair{bf16_factor(even[along])} << 16U : 0U;
      }
      to[k / 2 * kWidth + j] = pair;
    }
  }
}

/// Like run_tile(), with pairs as factors.
template <Walk kWalk, int kRows, int kVectors>
void run_bf16_tile(const TileArgs<float, Bf16Pair>& args) {
  constexpr int kGroup = 3;  // rows that one pointer and its step can name
  constexpr int kGroups = (kRows + kGroup - 1) / kGroup;
  const std::int64_t a_step = args.a_step;
  const std::int64_t b_step = args.b_step;
  const Bf16Pair* HWY_RESTRICT b = args.b;
  const Bf16Pair* a[kGroups];
#pragma GCC unroll 16
  for (int group = 0; group < kGroups; ++group) {
    a[group] = args.a + (kWalk == Walk::kAlong ? kGroup * group * a_step : 0);
  }
  if (args.next_c != nullptr) {
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        hwy::Prefetch(args.next_c + row * args.c_step + v * kPairLanes);
      }
    }
  }
  const std::int64_t ahead = kStepsAhead * b_step;
  Sums<kRows, kVectors, float> sums;
  sums.begin(args.start, args.start_step, args.last);
  for (std::int64_t k = args.depth; k > 0; --k) {
    __m512i b_row[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      b_row[v] = _mm512_loadu_si512(b + v * kPairLanes);
      hwy::Prefetch(b + v * kPairLanes + ahead);
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const __m512i pair = _mm512_set1_epi32(static_cast<int>(
          kWalk == Walk::kAlong ? a[row / kGroup][row % kGroup * a_step]
                                : a[0][row]));
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sums.at[row][v].raw = _mm512_dpbf16_ps(
            sums.at[row][v].raw, reinterpret_cast<__m512bh>(pair),
            reinterpret_cast<__m512bh>(b_row[v]));
      }
    }
    if constexpr (kWalk == Walk::kAlong) {
#pragma GCC unroll 16
      for (int group = 0; group < kGroups; ++group) {
        ++a[group];
      }
    } else {
      a[0] += a_step;
    }
    b += b_step;
  }
  if (args.ends_in_relu) {
    sums.relu();
  }
  sums.store(args.c, args.c_step, args.last);
}

using Bf16TileFunction = void (*)(const TileArgs<float, Bf16Pair>&);

template <Walk kWalk, int kVectors, int... kIndices>
constexpr std::array<Bf16TileFunction, sizeof...(kIndices)> bf16_tiles_of(
    std::integer_sequence<int, kIndices...> /* indices */) {
  return {&run_bf16_tile<kWalk, kIndices + 1, kVectors>...};
}

/// kBf16Tiles<walk, vectors>[rows - 1]
template <Walk kWalk, int kVectors>
inline constexpr auto kBf16Tiles = bf16_tiles_of<kWalk, kVectors>(
    std::make_integer_sequence<int, kTileRows>());

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_POP_ATTRIBUTES

#endif  // AVX-512
#endif  // the toggle
