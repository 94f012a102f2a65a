// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/transpose.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/engine/words.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/engine/transpose.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "neap/kernels/engine/turn-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Elements that fill a vector of 16 bytes.
template <class T>
constexpr std::int64_t kSide = 16 / static_cast<std::int64_t>(sizeof(T));

#if HWY_TARGET != HWY_SCALAR
// to[r][c] = from[c][r] for a square of 16 bytes a side.
HWY_INLINE void square(const std::uint32_t* HWY_RESTRICT from,
                       std::int64_t stride, std::uint32_t* HWY_RESTRICT to,
                       std::int64_t to_stride) noexcept {
  const hn::FixedTag<std::uint32_t, 4> d;
  const hn::FixedTag<std::uint64_t, 2> wide;
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + stride);
  const auto c = hn::LoadU(d, from + 2 * stride);
  const auto e = hn::LoadU(d, from + 3 * stride);
  const auto ab = hn::BitCast(wide, hn::InterleaveLower(d, a, b));
  const auto ab_high = hn::BitCast(wide, hn::InterleaveUpper(d, a, b));
  const auto ce = hn::BitCast(wide, hn::InterleaveLower(d, c, e));
  const auto ce_high = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab, ce)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab, ce)), d,
             to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_high, ce_high)), d,
             to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_high, ce_high)), d,
             to + 3 * to_stride);
}

HWY_INLINE void square(const std::uint64_t* HWY_RESTRICT from,
                       std::int64_t stride, std::uint64_t* HWY_RESTRICT to,
                       std::int64_t to_stride) noexcept {
  const hn::FixedTag<std::uint64_t, 2> d;
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + stride);
  hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
  hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + to_stride);
}
#endif  // HWY_TARGET != HWY_SCALAR

template <class T>
HWY_INLINE void square(const T* from, std::int64_t stride, T* to,
                       std::int64_t to_stride) noexcept {
  using Word [[gnu::may_alias]] = T;
  Word* target = to;
  for (std::int64_t r = 0; r < kSide<T>; ++r) {
    for (std::int64_t c = 0; c < kSide<T>; ++c) {
      target[r * to_stride + c] = from[c * stride + r];
    }
  }
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
/// Elements along a side of what is transposed in registers; 0: nothing is.
template <class T>
constexpr std::int64_t kTurned = sizeof(T) == 4
                                     ? static_cast<std::int64_t>(kCount<float>)
                                 : sizeof(T) == 8
                                     ? static_cast<std::int64_t>(kCount<double>)
                                     : 0;

template <class T>
HWY_INLINE void turned_square(const T* from, std::int64_t stride, T* to,
                              std::int64_t to_stride) noexcept {
  using Real = std::conditional_t<sizeof(T) == 4, float, double>;
  const Lanes<Real> d;
  hn::Vec<Lanes<Real>> row[kCount<Real>];
  hn::Vec<Lanes<Real>> column[kCount<Real>];
  for (std::int64_t c = 0; c < kTurned<T>; ++c) {
    row[c] = hn::LoadU(d, reinterpret_cast<const Real*>(from + c * stride));
  }
  turn(Real(), row, column);
  for (std::int64_t r = 0; r < kTurned<T>; ++r) {
    hn::StoreU(column[r], d, reinterpret_cast<Real*>(to + r * to_stride));
  }
}
#else
template <class T>
constexpr std::int64_t kTurned = 0;
#endif

// A rectangle of y, from the same one of x.
template <class T>
HWY_INLINE void small_squares(const T* x, std::int64_t x_stride, T* y,
                              std::int64_t y_stride, std::int64_t rows,
                              std::int64_t columns) noexcept {
  using Word [[gnu::may_alias]] = T;
  const std::int64_t even_rows = rows / kSide<T> * kSide<T>;
  const std::int64_t even_columns = columns / kSide<T> * kSide<T>;
  for (std::int64_t r = 0; r < even_rows; r += kSide<T>) {
    for (std::int64_t c = 0; c < even_columns; c += kSide<T>) {
      square(x + c * x_stride + r, x_stride, y + r * y_stride + c, y_stride);
    }
  }
  Word* target = y;
  const Word* source = x;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = r < even_rows ? even_columns : 0; c < columns; ++c) {
      target[r * y_stride + c] = source[c * x_stride + r];
    }
  }
}

template <class T>
HWY_INLINE void squares(const T* x, std::int64_t x_stride, T* y,
                        std::int64_t y_stride, std::int64_t rows,
                        std::int64_t columns) noexcept {
  if constexpr (kTurned<T> == 0) {
    small_squares(x, x_stride, y, y_stride, rows, columns);
  } else {
    const std::int64_t turned_rows = rows / kTurned<T> * kTurned<T>;
    const std::int64_t turned_columns = columns / kTurned<T> * kTurned<T>;
    for (std::int64_t r = 0; r < turned_rows; r += kTurned<T>) {
      for (std::int64_t c = 0; c < turned_columns; c += kTurned<T>) {
        turned_square(x + c * x_stride + r, x_stride, y + r * y_stride + c,
                      y_stride);
      }
    }
    small_squares(x + turned_columns * x_stride, x_stride, y + turned_columns,
                  y_stride, turned_rows, columns - turned_columns);
    small_squares(x + turned_rows, x_stride, y + turned_rows * y_stride,
                  y_stride, rows - turned_rows, columns);
  }
}

// Whole lines of x to a buffer, whole lines of y from it: however the strides
// fall on the sets of a cache, no line is fetched twice. Where a vector is a
// line and y is small itself, there is nothing to avoid.
template <class T>
HWY_INLINE void tile(const T* x, std::int64_t x_stride, T* y,
                     std::int64_t y_stride, std::int64_t rows,
                     std::int64_t columns) noexcept {
  constexpr std::int64_t kTile = tile_side(sizeof(T));
  constexpr bool kIsLine = kTurned<T> * sizeof(T) == 64;
  if (kIsLine && rows <= kTurned<T> && y_stride <= kTile) {
    squares(x, x_stride, y, y_stride, rows, columns);
    return;
  }
  alignas(64) T buffer[kTile * kTile];
  for (std::int64_t c = 0; c < columns; ++c) {
    std::memcpy(buffer + c * kTile, x + c * x_stride,
                static_cast<std::size_t>(rows) * sizeof(T));
  }
  squares<T>(buffer, kTile, y, y_stride, rows, columns);
}

template <class T>
void tiles(const Transposition& call) noexcept {
  constexpr std::int64_t kTile = tile_side(sizeof(T));
  const T* x = reinterpret_cast<const T*>(call.x);
  T* y = reinterpret_cast<T*>(call.y);
  for (std::int64_t r = 0; r < call.rows; r += kTile) {
    const std::int64_t rows = std::min(kTile, call.rows - r);
    for (std::int64_t c = 0; c < call.columns; c += kTile) {
      const std::int64_t columns = std::min(kTile, call.columns - c);
      const T* from = x + r + c * call.x_stride;
      T* to = y + r * call.y_stride + c;
      if (rows == kTile && columns == kTile) {
        tile<T>(from, call.x_stride, to, call.y_stride, kTile, kTile);
      } else {
        tile<T>(from, call.x_stride, to, call.y_stride, rows, columns);
      }
    }
  }
}

}  // namespace

void run_tiles(const Transposition& call, int size) {
  by_word(size, [&]<class T>(T*) noexcept { tiles<T>(call); });
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(run_tiles);

}  // namespace

void transpose_tiles(const Transposition& call, int size) noexcept {
  HWY_DYNAMIC_DISPATCH(run_tiles)(call, size);
}

}  // namespace neap::kernels
#endif  // HWY_ONCE
