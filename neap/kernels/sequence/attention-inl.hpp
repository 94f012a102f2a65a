// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The parts of attention and its gradient: products of small matrices in
// scratch by the register tile of the matrix product, copies into scratch, and
// the work on one row of scores. Compiled once for each instruction set.
#if defined(NEAP_KERNELS_ATTENTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_ATTENTION_INL
#undef NEAP_KERNELS_ATTENTION_INL
#else
#define NEAP_KERNELS_ATTENTION_INL
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "neap/kernels/elementwise/dropout-inl.hpp"
#include "neap/kernels/gemm/gemm_micro_kernels-inl.hpp"
#include "neap/kernels/norm/softmax-inl.hpp"
#include "neap/kernels/sequence/attention_room.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// The left operand of a product, A (m, k).
template <class Factor>
struct Left {
  const Factor* data = nullptr;
  std::int64_t step = 0;  // kAlong: from row to row; kAcross: from k to k + 1
  Walk walk = Walk::kAlong;
};

/// The right one, B (k, n): panels of a tile's columns.
template <class Factor>
struct Right {
  const Factor* data = nullptr;
  std::int64_t step = 0;  // from k to k + 1
  std::int64_t panel_step = 0;
};

/// A range of k, of keys, of rows.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const { return end - begin; }
};

enum class Onto { kNothing, kWhatIsThere };

/// No k, and C stays as it is.
inline constexpr Range kSkipped{0, -1};

/// The factors that hold some elements along k.
template <class MicroKernels>
constexpr Range factors_of(Range k) {
  return k.size() <= 0 ? Range{0, k.size()}
                       : Range{k.begin / MicroKernels::kElements,
                               parts_of(k.end, MicroKernels::kElements)};
}

template <class MicroKernels>
HWY_INLINE void run_tile_of(const TileArgs<typename MicroKernels::Element,
                                           typename MicroKernels::Factor>& tile,
                            std::int64_t rows, Walk walk, bool is_wide) {
  const auto count = static_cast<std::size_t>(rows);
  if (walk == Walk::kAlong) {
    is_wide ? MicroKernels::template run<Walk::kAlong, 2>(tile, count)
            : MicroKernels::template run<Walk::kAlong, 1>(tile, count);
  } else {
    is_wide ? MicroKernels::template run<Walk::kAcross, 2>(tile, count)
            : MicroKernels::template run<Walk::kAcross, 1>(tile, count);
  }
}

/// C (m, n) = A B, or C += A B. Of the rows [row, row + rows) and the panel of
/// columns at `column`, only the elements depth_of(row, rows, column) of k
/// count; A is zero beside them, in the same factor. Each element is one
/// accumulator, k in order.
template <class MicroKernels, class DepthOf>
HWY_INLINE void multiply(std::int64_t m, std::int64_t n,
                         const Left<typename MicroKernels::Factor>& a,
                         const Right<typename MicroKernels::Factor>& b,
                         typename MicroKernels::Element* c, std::int64_t c_step,
                         Onto onto, const DepthOf& depth_of) {
  using T = typename MicroKernels::Element;
  const std::int64_t tile_rows = balanced_piece(m, kTileRows);
  const bool is_along = a.walk == Walk::kAlong;
  for (std::int64_t column = 0; column < n; column += kTileColumns<T>) {
    const std::int64_t width = std::min(kTileColumns<T>, n - column);
    const bool is_wide = width > kLanes<T>;
    const auto* panel = b.data + column / kTileColumns<T> * b.panel_step;
    for (std::int64_t row = 0; row < m; row += tile_rows) {
      const std::int64_t rows = std::min(tile_rows, m - row);
      const Range k = factors_of<MicroKernels>(depth_of(row, rows, column));
      if (k.size() < 0 || (k.size() == 0 && onto == Onto::kWhatIsThere)) {
        continue;
      }
      TileArgs<T, typename MicroKernels::Factor> tile;
      tile.depth = k.size();
      tile.a =
          a.data + (is_along ? row * a.step + k.begin : k.begin * a.step + row);
      tile.a_step = a.step;
      tile.b = panel + k.begin * b.step;
      tile.b_step = b.step;
      tile.c = c + row * c_step + column;
      tile.c_step = c_step;
      tile.start = onto == Onto::kNothing ? nullptr : tile.c;
      tile.start_step = c_step;
      tile.last = is_wide ? width - kLanes<T> : width;
      run_tile_of<MicroKernels>(tile, rows, a.walk, is_wide);
    }
  }
}

/// Packs x (depth, columns) as the right operand of a product, zeros up to
/// whole panels.
template <class MicroKernels>
Right<typename MicroKernels::Factor> pack_right(
    const HeadView<const typename MicroKernels::Element>& x, std::int64_t depth,
    std::int64_t columns, typename MicroKernels::Factor* to) {
  using T = typename MicroKernels::Element;
  const std::int64_t panel_step =
      parts_of(depth, MicroKernels::kElements) * kTileColumns<T>;
  for (std::int64_t column = 0; column < columns; column += kTileColumns<T>) {
    MicroKernels::template pack<kTileColumns<T>>(
        x.data + column * x.column_stride, x.column_stride, x.row_stride,
        std::min(kTileColumns<T>, columns - column), depth,
        to + column / kTileColumns<T> * panel_step);
  }
  return {to, kTileColumns<T>, panel_step};
}

/// Copies rows of x times `factor`, `step` apart, zeros up to it. They serve
/// as a left operand along k, or as a right one.
template <class T>
void copy_rows(const HeadView<const T>& x, std::int64_t rows,
               std::int64_t columns, std::int64_t step, T factor, T* to) {
  const hn::ScalableTag<T> d;
  const auto by = hn::Set(d, factor);
  const bool is_whole =
      x.column_stride == 1 && columns == step && columns % kLanes<T> == 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* HWY_RESTRICT from = x.data + row * x.row_stride;
    T* HWY_RESTRICT out = to + row * step;
    if (is_whole) {
      for (std::int64_t j = 0; j < columns; j += kLanes<T>) {
        hn::StoreU(hn::Mul(hn::LoadU(d, from + j), by), d, out + j);
      }
      continue;
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      out[j] = from[j * x.column_stride] * factor;
    }
    std::fill(out + columns, out + step, T{0});
  }
}

template <class Factor>
Left<Factor> along(const Factor* rows, std::int64_t step) {
  return {rows, step, Walk::kAlong};
}
/// The transpose of rows.
template <class Factor>
Left<Factor> across(const Factor* rows, std::int64_t step) {
  return {rows, step, Walk::kAcross};
}
template <class Factor>
Right<Factor> right_of(const Factor* rows, std::int64_t step) {
  return {rows, step, kTileColumns<Factor>};
}

/// e^x of a score less the largest, or less the logarithm of the sum: no
/// more than about 0, or NaN.
template <class D, class V>
HWY_INLINE V exp_of_score(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

/// How many of a vector's lanes from `at` on are below `count`.
template <class D>
HWY_INLINE auto below(D d, std::int64_t at, std::int64_t count) {
  return hn::FirstN(
      d, static_cast<std::size_t>(std::max<std::int64_t>(count - at, 0)));
}

/// x[i] = e^(x[i] - m); gives their sum, in the order of sum_of_block. Up to
/// the next multiple of kSoftmaxPartials, x becomes 0.
template <class T>
HWY_INLINE T exp_and_sum(std::int64_t count, T m, T* x) {
  const hn::CappedTag<T, kSoftmaxPartials> d;
  using V = hn::Vec<decltype(d)>;
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(d));
  constexpr auto kAll = static_cast<std::int64_t>(kSoftmaxPartials);
  constexpr std::size_t kVectors = kAll / kWidth;
  const V level = hn::Set(d, m);
  V partials[kVectors];
  for (V& partial : partials) {
    partial = hn::Zero(d);
  }
  for (std::int64_t i = 0; i < count; i += kAll) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::int64_t at = i + static_cast<std::int64_t>(v) * kWidth;
      V e = hn::Zero(d);
      if (at < count) {  // what is behind may be unwritten
        e = exp_of_score(d, hn::Sub(hn::LoadU(d, x + at), level));
      }
      if (at + kWidth > count) {
        e = hn::IfThenElseZero(below(d, at, count), e);
      }
      hn::StoreU(e, d, x + at);
      partials[v] = hn::Add(partials[v], e);
    }
  }
  for (std::size_t half = kVectors / 2; half > 0; half /= 2) {
    for (std::size_t v = 0; v < half; ++v) {
      partials[v] = hn::Add(partials[v], partials[v + half]);
    }
  }
  return sum_of_lanes(d, partials[0]);
}

template <class T>
HWY_INLINE T exp_of_one(T x) {
  const hn::ScalableTag<T> d;
  return hn::GetLane(exp_of(d, hn::Set(d, x)));
}

/// A row's mask on its scores for keys [first, first + count).
template <class T>
void add_mask(const Strided& mask, std::int64_t batch, std::int64_t head,
              std::int64_t row, std::int64_t first, std::int64_t count,
              T* scores) {
  if (mask.dtype == DType::kBool) {
    const auto m = mask_of<std::uint8_t>(mask, batch, head).from_row(row);
    const std::uint8_t* at = m.data + first * m.column_stride;
    for (std::int64_t j = 0; j < count; ++j) {
      scores[j] = at[j * m.column_stride] != 0
                      ? scores[j]
                      : -std::numeric_limits<T>::infinity();
    }
    return;
  }
  const auto m = mask_of<T>(mask, batch, head).from_row(row);
  const T* at = m.data + first * m.column_stride;
  for (std::int64_t j = 0; j < count; ++j) {
    scores[j] += at[j * m.column_stride];
  }
}

/// factors[j] = 1 / (1 - p) for the elements that dropout keeps, else 0.
template <class T>
void drop_factors(const AttentionAttrs& attrs, std::int64_t first,
                  std::int64_t count, T* factors) {
  const auto kept = static_cast<T>(1.0 / (1.0 - attrs.dropout));
  const std::uint32_t threshold = keep_threshold(attrs.dropout);
  for_each_word(attrs.key, attrs.first + first, count,
                [&](std::int64_t j, std::uint32_t word) HWY_ATTR {
                  factors[j] = word >> 8U >= threshold ? kept : T{0};
                });
}

/// The end of what a tile of rows may read of a row.
HWY_INLINE std::int64_t end_of_reads(std::int64_t seen, std::int64_t width) {
  return std::min<std::int64_t>(width, seen + kTileRows);
}

/// Zeros behind what a row sees, as far as a tile of rows may read; whole
/// vectors.
template <class T>
HWY_INLINE void close_row(std::int64_t seen, std::int64_t width, T* x) {
  const hn::ScalableTag<T> d;
  const std::int64_t end = end_of_reads(seen, width);
  for (std::int64_t i = parts_of(seen, kLanes<T>) * kLanes<T>; i < end;
       i += kLanes<T>) {
    hn::StoreU(hn::Zero(d), d, x + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif  // the toggle
