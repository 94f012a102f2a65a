// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Packing: copies a panel of A or of B into the order in which the register
// tile reads it. Compiled once for each instruction set; included by gemm.cpp
// and conv.cpp alone.
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
#include "neap/base/dtype.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Side of the square blocks that are transposed in registers, one or (wide) two
// at a time.
#if HWY_TARGET == HWY_SCALAR
template <class T>
inline constexpr std::int64_t kSide = 1;
#else
template <class T>
inline constexpr std::int64_t kSide = 16 / sizeof(T);
#endif

/// An element of a source as one of a panel: bf16 is widened.
template <class T>
HWY_INLINE T as_factor(T x) {
  return x;
}
HWY_INLINE float as_factor(BFloat16 x) {
  return static_cast<float>(x);
}

/// As many elements as `d` has lanes. Widening is a shift: exact for every
/// number, NaN and denormals included.
template <class D>
HWY_INLINE hn::Vec<D> load_factors(D d, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_factors(D d, const BFloat16* from) {
  const hn::Rebind<std::uint16_t, D> narrow;
  const hn::RebindToUnsigned<D> wide;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(
                            wide, hn::LoadU(narrow, &from->bits))));
}

/// Blocks of kSide lanes out of the rows from and from + apart; 0: out of one.
template <bool kWide, class T, class From>
HWY_INLINE auto load_blocks(const From* from, std::int64_t apart) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  const hn::FixedTag<T, kSide<T>> d;
  if constexpr (kWide) {
    return hn::Combine(hn::FixedTag<T, 2 * kSide<T>>(),
                       load_factors(d, from + apart), load_factors(d, from));
  } else {
    return load_factors(d, from);
  }
#else
  static_cast<void>(apart);
  return load_factors(hn::FixedTag<T, kSide<T>>(), from);
#endif
}

/// to[k * to_step + j] = from[j * from_step + k] for k in [0, kSide) and j in
/// [0, kSide), or if wide in [0, 2 kSide).
template <bool kWide, class From>  // float or BFloat16
HWY_INLINE void transpose_block(const From* from, std::int64_t from_step,
                                float* to, std::int64_t to_step) {
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(from_step + to_step);
  *to = as_factor(*from);
#else
  const std::int64_t apart = 4 * from_step;
  const auto row0 = load_blocks<kWide, float>(from, apart);
  const auto row1 = load_blocks<kWide, float>(from + from_step, apart);
  const auto row2 = load_blocks<kWide, float>(from + 2 * from_step, apart);
  const auto row3 = load_blocks<kWide, float>(from + 3 * from_step, apart);
  const hn::DFromV<decltype(row0)> d;
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

template <bool kWide>
HWY_INLINE void transpose_block(const double* from, std::int64_t from_step,
                                double* to, std::int64_t to_step) {
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(from_step + to_step);
  *to = *from;
#else
  const std::int64_t apart = 2 * from_step;
  const auto row0 = load_blocks<kWide, double>(from, apart);
  const auto row1 = load_blocks<kWide, double>(from + from_step, apart);
  const hn::DFromV<decltype(row0)> d;
  hn::StoreU(hn::InterleaveLower(d, row0, row1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, row0, row1), d, to + to_step);
#endif
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
inline constexpr bool kHasWideBlocks = true;
#else
inline constexpr bool kHasWideBlocks = false;
#endif

/// to[k * to_step + j] = from[j * from_step + k] for j in [0, kRows) and k in
/// [0, columns); kRows is a side, or two if wide.
template <bool kWide, class From, class T>
HWY_INLINE void transpose_rows(const From* from, std::int64_t from_step,
                               std::int64_t columns, T* to,
                               std::int64_t to_step) {
  constexpr std::int64_t kRows = kWide ? 2 * kSide<T> : kSide<T>;
  std::int64_t k = 0;
  for (; k + kSide<T> <= columns; k += kSide<T>) {
    transpose_block<kWide>(from + k, from_step, to + k * to_step, to_step);
  }
  for (; k < columns; ++k) {
    for (std::int64_t j = 0; j < kRows; ++j) {
      to[k * to_step + j] = as_factor(from[j * from_step + k]);
    }
  }
}

/// to[k * to_step + j] = from[j * from_step + k] for j in [0, rows) and k in
/// [0, columns).
template <class From, class T>
HWY_NOINLINE void transpose(const From* from, std::int64_t from_step,
                            std::int64_t rows, std::int64_t columns, T* to,
                            std::int64_t to_step) {
  constexpr std::int64_t kStep = kSide<T>;
  std::int64_t j = 0;
  if constexpr (kHasWideBlocks) {
    for (; j + 2 * kStep <= rows; j += 2 * kStep) {
      transpose_rows<true>(from + j * from_step, from_step, columns, to + j,
                           to_step);
    }
  }
  for (; j + kStep <= rows; j += kStep) {
    transpose_rows<false>(from + j * from_step, from_step, columns, to + j,
                          to_step);
  }
  for (; j < rows; ++j) {
    for (std::int64_t k = 0; k < columns; ++k) {
      to[k * to_step + j] = as_factor(from[j * from_step + k]);
    }
  }
}

/// Packs where neighbours along k lie together: by blocks of one cache line of
/// k, so that each line of the source is fetched once.
template <std::int64_t kWidth, class From, class T>
void pack_transposed(const From* from, std::int64_t from_step,
                     std::int64_t width, std::int64_t depth,
                     T* HWY_RESTRICT to) {
  constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(From));
  for (std::int64_t line = 0; line < depth; line += kLine) {
    const std::int64_t columns = std::min(kLine, depth - line);
    transpose(from + line, from_step, width, columns, to + line * kWidth,
              kWidth);
  }
  for (std::int64_t k = 0; width < kWidth && k < depth; ++k) {
    std::fill(to + k * kWidth + width, to + (k + 1) * kWidth, T{0});
  }
}

/// to[j] = from[j] for j in [0, kWidth).
template <std::int64_t kWidth, class T>
HWY_INLINE void copy_factors(const T* from, T* HWY_RESTRICT to) {
  std::memcpy(to, from, kWidth * sizeof(T));
}
template <std::int64_t kWidth>
HWY_INLINE void copy_factors(const BFloat16* from, float* HWY_RESTRICT to) {
  const hn::CappedTag<float, kWidth % 16 == 0 ? 16 : 4> d;
  for (std::size_t j = 0; j < kWidth; j += hn::Lanes(d)) {
    hn::StoreU(load_factors(d, from + j), d, to + j);
  }
}

/// to[k * kWidth + j] = from[j * across + k * along] for j in [0, width) and k
/// in [0, depth); the lanes from width to kWidth become 0.
template <std::int64_t kWidth, class From, class T>
HWY_NOINLINE void pack_panel(const From* from, std::int64_t across,
                             std::int64_t along, std::int64_t width,
                             std::int64_t depth, T* HWY_RESTRICT to) {
  if (along == 1) {
    pack_transposed<kWidth>(from, across, width, depth, to);
    return;
  }
  if (width < kWidth) {
    std::fill_n(to, depth * kWidth, T{0});
  }
  if (across == 1 && width == kWidth) {
    for (std::int64_t k = 0; k < depth; ++k) {
      copy_factors<kWidth>(from + k * along, to + k * kWidth);
    }
    return;
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t j = 0; j < width; ++j) {
      to[k * kWidth + j] = as_factor(from[j * across + k * along]);
    }
  }
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
