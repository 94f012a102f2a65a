// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The part of convolutions that bf16 has for itself: a factor is a pair of bf16
// in 32 bits (gemm_bf16-inl.hpp), made of two planes of an operand, those of
// neighbouring channels or samples. Everything else is f32's walk over half as
// many channels or samples. Compiled for AVX-512 with AVX512_BF16; run only
// where has_bf16_dot(). Included by conv's sources alone.
#if defined(NEAP_KERNELS_CONV_BF16_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_BF16_INL
#undef NEAP_KERNELS_CONV_BF16_INL
#else
#define NEAP_KERNELS_CONV_BF16_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/kernels/conv/conv_copy-inl.hpp"
#include "neap/kernels/gemm/gemm_bf16-inl.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace neap::kernels::HWY_NAMESPACE {

/// The source of pairs: elements of an even plane and of the odd one behind it,
/// or zeros where there is none.
struct PairFrom {
  const float* even = nullptr;
  const float* odd = nullptr;

  PairFrom& operator+=(std::int64_t step) {
    even += step;
    odd = odd == nullptr ? nullptr : odd + step;
    return *this;
  }
  friend PairFrom operator+(PairFrom from, std::int64_t step) {
    return from += step;
  }
};

/// Like ConvPlain; a factor is a pair.
struct ConvBf16 {
  using Element = float;
  using Factor = Bf16Pair;
  using From = PairFrom;
  static constexpr std::int64_t kElements = 2;

  static From from(const float* at, std::int64_t apart, bool has_next) {
    return {at, has_next ? at + apart : nullptr};
  }
};

// --- a step of the tile ---

HWY_INLINE __m512i load_factors(const Bf16Pair* from) {
  return _mm512_loadu_si512(from);
}

HWY_INLINE __m512i spread_factor(const Bf16Pair* from) {
  return _mm512_set1_epi32(static_cast<int>(*from));
}

HWY_INLINE hn::Vec<hn::ScalableTag<float>> add_products(
    __m512i a, __m512i b, hn::Vec<hn::ScalableTag<float>> sums) {
  return hn::Vec<hn::ScalableTag<float>>{_mm512_dpbf16_ps(
      sums.raw, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b))};
}

// --- copies ---

/// Loads vectors of pairs out of two planes, as many lanes as there are.
class PairLoader {
 public:
  PairLoader(const PairFrom& from, std::int64_t count)
      : odd_(from.odd == nullptr ? from.even : from.odd),
        even_(from.even),
        lanes_(first_lanes(count)),
        odd_lanes_(from.odd == nullptr ? __mmask16{0} : lanes_) {}

  HWY_INLINE __m512i at(std::int64_t offset) const {
    return zip_pairs(_mm512_maskz_loadu_ps(lanes_, even_ + offset),
                     _mm512_maskz_loadu_ps(odd_lanes_, odd_ + offset));
  }
  __mmask16 lanes() const { return lanes_; }

 private:
  const float* odd_;
  const float* even_;
  __mmask16 lanes_;
  __mmask16 odd_lanes_;
};

HWY_INLINE Bf16Pair pair_at(const PairFrom& from, std::int64_t offset) {
  const Bf16Pair even = bf16_factor(from.even[offset]);
  return from.odd == nullptr
             ? even
             : even | Bf16Pair{bf16_factor(from.odd[offset])} << 16U;
}

/// `count` pairs; nothing behind them is touched.
inline void copy_dense(const PairFrom& from, std::int64_t count, Bf16Pair* to) {
  const std::int64_t whole = count / kPairLanes * kPairLanes;
  const PairLoader loader(from, kPairLanes);
  for (std::int64_t i = 0; i < whole; i += kPairLanes) {
    _mm512_storeu_si512(to + i, loader.at(i));
  }
  if (whole < count) {
    const PairLoader rest(from, count - whole);
    _mm512_mask_storeu_epi32(to + whole, rest.lanes(), rest.at(whole));
  }
}

/// to[i] = the pair at 2 i for i in [0, count).
inline void copy_every_second(const PairFrom& from, std::int64_t count,
                              Bf16Pair* to) {
  for (std::int64_t i = 0; i < count; i += kPairLanes) {
    // Takes, from each plane, the low halves of 16 pairs of neighbours.
    const std::int64_t span = 2 * (count - i) - 1;
    const __m512i even = pairs_along(from.even + 2 * i, span);
    const __m512i odd = from.odd == nullptr
                            ? _mm512_setzero_si512()
                            : pairs_along(from.odd + 2 * i, span);
    _mm512_mask_storeu_epi32(
        to + i, first_lanes(count - i),
        _mm512_mask_blend_epi16(0xAAAAAAAA, even, _mm512_slli_epi32(odd, 16)));
  }
}

/// to[i] = the pair at i * step for i in [0, count).
inline void copy_row(const PairFrom& from, std::int64_t step,
                     std::int64_t count, Bf16Pair* to) {
  if (step == 1) {
    copy_dense(from, count, to);
    return;
  }
  if (step == 2) {
    copy_every_second(from, count, to);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = pair_at(from, i * step);
  }
}

/// fetch_rows() of both planes.
inline void fetch_rows(const PairFrom& from, std::int64_t step,
                       std::int64_t rows, std::int64_t count) {
  fetch_rows(from.even, step, rows, count);
  if (from.odd != nullptr) {
    fetch_rows(from.odd, step, rows, count);
  }
}

// A panel's two vectors of columns.
inline constexpr std::int64_t kPairColumns = 2 * kPairLanes;

/// Up to 16 factors of each column of a panel, where these are runs of memory.
inline void pack_pair_block(const PairFrom& from, std::int64_t across,
                            std::int64_t width, std::int64_t depth,
                            Bf16Pair* HWY_RESTRICT to) {
  const PairLoader loader(from, depth);
  for (std::int64_t j = 0; j < width; ++j) {  // of what is packed next
    hwy::Prefetch(from.even + j * across + kPairColumns);
    hwy::Prefetch(from.odd + j * across + kPairColumns);
  }
  for (std::int64_t j = 0; j < kPairColumns; j += kPairLanes) {
    __m512i row[kPairLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kPairLanes; ++i) {
      row[i] =
          j + i < width ? loader.at((j + i) * across) : _mm512_setzero_si512();
    }
    store_transposed(row, to + j, kPairColumns, depth);
  }
}

/// to[k * 32 + j] = from[j * step + k] for j in [0, width) and k in [0, depth),
/// whole vectors of which are there to read; the lanes from width to 32 become
/// 0.
inline void turn_columns(const Bf16Pair* from, std::int64_t step,
                         std::int64_t width, std::int64_t depth,
                         Bf16Pair* HWY_RESTRICT to) {
  for (std::int64_t k = 0; k < depth; k += kPairLanes) {
    for (std::int64_t j = 0; j < kPairColumns; j += kPairLanes) {
      __m512i row[kPairLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kPairLanes; ++i) {
        row[i] = j + i < width ? _mm512_loadu_si512(from + (j + i) * step + k)
                               : _mm512_setzero_si512();
      }
      store_transposed(row, to + k * kPairColumns + j, kPairColumns, depth - k);
    }
  }
}

/// The same for any depth: column by column first, some of each, since columns
/// that are a power of two apart meet in a few sets of the cache.
inline void pack_pair_runs(const PairFrom& from, std::int64_t across,
                           std::int64_t width, std::int64_t depth,
                           Bf16Pair* HWY_RESTRICT to) {
  constexpr std::int64_t kSome = 64;
  alignas(64) Bf16Pair columns[kPairColumns * kSome];
  for (std::int64_t k = 0; k < depth; k += kSome) {
    const std::int64_t some = std::min(kSome, depth - k);
    const std::int64_t next = std::min(kSome, depth - k - some);
    for (std::int64_t j = 0; j < width; ++j) {
      const PairFrom column = from + (j * across + k);
      if (next > 0) {
        fetch_rows(column + some, 0, 1, next);
      }
      for (std::int64_t i = 0; i < some; i += kPairLanes) {
        _mm512_store_si512(columns + j * kSome + i,
                           PairLoader(column, some - i).at(i));
      }
    }
    turn_columns(columns, kSome, width, some, to + k * kPairColumns);
  }
}

/// to[k * 32 + j] = the pair at j * across + k * along, for j in [0, width) and
/// k in [0, depth); the lanes from width to 32 become 0.
inline void pack_conv_panel(const PairFrom& from, std::int64_t across,
                            std::int64_t along, std::int64_t width,
                            std::int64_t depth, Bf16Pair* HWY_RESTRICT to) {
  if (along == 1) {
    (depth < kPairLanes ? pack_pair_block : pack_pair_runs)(from, across, width,
                                                            depth, to);
    return;
  }
  if (across == 1) {
    for (std::int64_t k = 0; k < depth; ++k, to += kPairColumns) {
      for (std::int64_t j = 0; j < kPairColumns; j += kPairLanes) {
        const PairLoader loader(from, width - j);
        _mm512_storeu_si512(to + j, loader.at(k * along + j));
      }
    }
    return;
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t j = 0; j < kPairColumns; ++j) {
      to[k * kPairColumns + j] =
          j < width ? pair_at(from, j * across + k * along) : 0;
    }
  }
}

/// The same for pairs: packs the taps of `count` channels.
inline void pack_conv_taps(const ConvFactors<ConvBf16>& channels,
                           std::int64_t channel, std::int64_t count,
                           const ConvTaps& w, Bf16Pair* HWY_RESTRICT to) {
  if (w.taps == 1) {  // as a matrix product has it
    const bool has_all = channels.at(channel + count - 1).odd != nullptr;
    pack_pairs<kPairColumns>(channels.at(channel).even, w.across,
                             channels.apart(), w.width,
                             2 * count - (has_all ? 0 : 1), to);
    return;
  }
  for (std::int64_t c = 0; c < count; ++c) {
    pack_conv_panel(channels.at(channel + c), w.across, w.along, w.width,
                    w.taps, to + c * w.taps * kPairColumns);
  }
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_POP_ATTRIBUTES

#endif  // AVX-512
#endif  // the toggle
