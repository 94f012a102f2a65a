// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Packing: copies a panel of A or of B into the order in which the register
// tile reads it. Compiled once for each instruction set; included by gemm.cpp
// alone.
#if defined(NEAP_KERNELS_GEMM_PACK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_GEMM_PACK_INL
#undef NEAP_KERNELS_GEMM_PACK_INL
#else
#define NEAP_KERNELS_GEMM_PACK_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Side of the square blocks that are transposed in registers.
#if HWY_TARGET == HWY_SCALAR
template <class T>
inline constexpr std::int64_t kSide = 1;
#else
template <class T>
inline constexpr std::int64_t kSide = 16 / sizeof(T);
#endif

/// to[k * to_step + j] = from[j * from_step + k] for j, k in [0, kSide).
HWY_INLINE void transpose_square(const float* from, std::int64_t from_step,
                                 float* to, std::int64_t to_step) {
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(from_step + to_step);
  *to = *from;
#else
  const hn::FixedTag<float, 4> d;
  const auto row0 = hn::LoadU(d, from);
  const auto row1 = hn::LoadU(d, from + from_step);
  const auto row2 = hn::LoadU(d, from + 2 * from_step);
  const auto row3 = hn::LoadU(d, from + 3 * from_step);
  const auto even_low = hn::InterleaveLower(d, row0, row2);
  const auto even_high = hn::InterleaveUpper(d, row0, row2);
  const auto odd_low = hn::InterleaveLower(d, row1, row3);
  const auto odd_high = hn::InterleaveUpper(d, row1, row3);
  hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, to);
  hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, to + to_step);
  hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, to + 2 * to_step);
  hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, to + 3 * to_step);
#endif
}

HWY_INLINE void transpose_square(const double* from, std::int64_t from_step,
                                 double* to, std::int64_t to_step) {
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(from_step + to_step);
  *to = *from;
#else
  const hn::FixedTag<double, 2> d;
  const auto row0 = hn::LoadU(d, from);
  const auto row1 = hn::LoadU(d, from + from_step);
  hn::StoreU(hn::InterleaveLower(d, row0, row1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, row0, row1), d, to + to_step);
#endif
}

/// Packs where neighbours along k lie together: by blocks of one cache line of
/// k, so that each line of the source is fetched once.
template <std::int64_t kWidth, class T>
void pack_transposed(const T* from, std::int64_t from_step, std::int64_t width,
                     std::int64_t depth, T* HWY_RESTRICT to) {
  constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
  constexpr std::int64_t kStep = kSide<T>;
  for (std::int64_t line = 0; line < depth; line += kLine) {
    const std::int64_t line_end = std::min(line + kLine, depth);
    for (std::int64_t j = 0; j < width; j += kStep) {
      const T* source = from + j * from_step;
      std::int64_t k = line;
      if (j + kStep <= width) {
        for (; k + kStep <= line_end; k += kStep) {
          transpose_square(source + k, from_step, to + k * kWidth + j, kWidth);
        }
      }
      for (; k < line_end; ++k) {
        for (std::int64_t i = j; i < std::min(j + kStep, width); ++i) {
          to[k * kWidth + i] = from[i * from_step + k];
        }
      }
    }
  }
}

/// to[k * kWidth + j] = from[j * across + k * along] for j in [0, width) and k
/// in [0, depth); the lanes from width to kWidth become 0.
template <std::int64_t kWidth, class T>
HWY_NOINLINE void pack_panel(const T* from, std::int64_t across,
                             std::int64_t along, std::int64_t width,
                             std::int64_t depth, T* HWY_RESTRICT to) {
  if (width < kWidth) {
    std::fill_n(to, depth * kWidth, T{0});
  }
  if (across == 1 && width == kWidth) {
    for (std::int64_t k = 0; k < depth; ++k) {
      std::memcpy(to + k * kWidth, from + k * along, kWidth * sizeof(T));
    }
  } else if (along == 1) {
    pack_transposed<kWidth>(from, across, width, depth, to);
  } else {
    for (std::int64_t k = 0; k < depth; ++k) {
      for (std::int64_t j = 0; j < width; ++j) {
        to[k * kWidth + j] = from[j * across + k * along];
      }
    }
  }
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
