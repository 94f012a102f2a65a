// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Channels side by side, for the gradients of weights: these are little else to
// do, so that bringing channels together counts. Compiled once for each
// instruction set; included by the headers of convolutions alone.
#if defined(NEAP_KERNELS_CONV_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_LANES_INL
#undef NEAP_KERNELS_CONV_LANES_INL
#else
#define NEAP_KERNELS_CONV_LANES_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/conv/conv_image-inl.hpp"
#include "neap/kernels/gemm/gemm_pack-inl.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3
namespace hn = hwy::HWY_NAMESPACE;

/// kSide elements of the rows from, from + apart and so on, one behind the
/// other. A masked load of all blocks does what would be a shuffle of each.
HWY_INLINE hn::Vec512<float> load_four(const float* from, std::int64_t apart) {
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(from));
  v = _mm512_mask_broadcast_f32x4(v, 0x00F0, _mm_loadu_ps(from + apart));
  v = _mm512_mask_broadcast_f32x4(v, 0x0F00, _mm_loadu_ps(from + 2 * apart));
  v = _mm512_mask_broadcast_f32x4(v, 0xF000, _mm_loadu_ps(from + 3 * apart));
  return hn::Vec512<float>{v};
}
HWY_INLINE hn::Vec512<double> load_four(const double* from,
                                        std::int64_t apart) {
  __m512d v = _mm512_castpd128_pd512(_mm_loadu_pd(from));
  v = _mm512_mask_broadcast_f64x2(v, 0x0C, _mm_loadu_pd(from + apart));
  v = _mm512_mask_broadcast_f64x2(v, 0x30, _mm_loadu_pd(from + 2 * apart));
  v = _mm512_mask_broadcast_f64x2(v, 0xC0, _mm_loadu_pd(from + 3 * apart));
  return hn::Vec512<double>{v};
}

/// to[k * to_step + j] = from[j * across + k] for j in [0, lanes) and k in
/// [0, kSide).
HWY_INLINE void transpose_lanes(const float* from, std::int64_t across,
                                float* to, std::int64_t to_step) {
  const hn::ScalableTag<float> d;
  const auto row0 = load_four(from, 4 * across);
  const auto row1 = load_four(from + across, 4 * across);
  const auto row2 = load_four(from + 2 * across, 4 * across);
  const auto row3 = load_four(from + 3 * across, 4 * across);
  const auto even_low = hn::InterleaveLower(d, row0, row2);
  const auto even_high = hn::InterleaveUpper(d, row0, row2);
  const auto odd_low = hn::InterleaveLower(d, row1, row3);
  const auto odd_high = hn::InterleaveUpper(d, row1, row3);
  hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, to);
  hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, to + to_step);
  hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, to + 2 * to_step);
  hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, to + 3 * to_step);
}
HWY_INLINE void transpose_lanes(const double* from, std::int64_t across,
                                double* to, std::int64_t to_step) {
  const hn::ScalableTag<double> d;
  const auto row0 = load_four(from, 2 * across);
  const auto row1 = load_four(from + across, 2 * across);
  hn::StoreU(hn::InterleaveLower(d, row0, row1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, row0, row1), d, to + to_step);
}

/// A vector of channels.
template <class T>
HWY_INLINE void pack_vector(const T* from, std::int64_t across,
                            std::int64_t depth, T* to, std::int64_t to_step) {
  const std::int64_t whole = depth / kSide<T> * kSide<T>;
  for (std::int64_t k = 0; k < whole; k += kSide<T>) {
    transpose_lanes(from + k, across, to + k * to_step, to_step);
  }
  for (std::int64_t k = whole; k < depth; ++k) {
    for (std::int64_t lane = 0; lane < kLanes<T>; ++lane) {
      to[k * to_step + lane] = from[lane * across + k];
    }
  }
}

/// The same where rows lie so far apart that they drive each other out of the
/// cache: each is read once, into a place where they do not.
template <class T>
void pack_vector_apart(const T* from, std::int64_t across, std::int64_t depth,
                       T* to, std::int64_t to_step) {
  constexpr std::int64_t kSome = 64;
  constexpr std::int64_t kPitch = kSome + kLanes<T>;
  HWY_ALIGN T rows[kLanes<T> * kPitch];
  for (std::int64_t k = 0; k < depth; k += kSome) {
    const std::int64_t some = std::min(kSome, depth - k);
    for (std::int64_t lane = 0; lane < kLanes<T>; ++lane) {
      copy_dense(from + lane * across + k, some, rows + lane * kPitch);
    }
    pack_vector(rows, kPitch, some, to + k * to_step, to_step);
  }
}

/// Like pack_panel(), but a vector of channels at a time; what there is behind
/// the last one stays as it is.
template <std::int64_t kWidth, class T>
void pack_lanes(const T* from, std::int64_t across, std::int64_t along,
                std::int64_t width, std::int64_t depth, T* to) {
  constexpr std::int64_t kApart = 2048 / sizeof(T);
  if (along != 1 || width % kLanes<T> != 0) {
    pack_panel<kWidth>(from, across, along, width, depth, to);
    return;
  }
  for (std::int64_t j = 0; j < width; j += kLanes<T>) {
    if (across % kApart == 0) {
      pack_vector_apart(from + j * across, across, depth, to + j, kWidth);
    } else {
      pack_vector(from + j * across, across, depth, to + j, kWidth);
    }
  }
}

/// to[k * kWidth + j] = what the sum of weight k of channel j begins with; a
/// channel's `depth` weights lie one behind the other.
template <std::int64_t kWidth, class T>
void begin_sums(const Conv& conv, const T* weights, std::int64_t width,
                std::int64_t depth, T* to) {
  if (conv.adds) {
    pack_panel<kWidth>(weights, depth, 1, width, depth, to);
  } else {
    std::fill_n(to, depth * kWidth, T{0});
  }
}

/// Brings what a later pack_lanes() will read, while there is time for it.
template <class T>
void fetch_lanes(const T* from, std::int64_t across, std::int64_t along,
                 std::int64_t width, std::int64_t depth) {
  if (along == 1) {
    fetch_rows(from, across, width, depth);
  }
}

#endif  // AVX-512
}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
