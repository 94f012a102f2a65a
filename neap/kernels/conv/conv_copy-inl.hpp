// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How convolutions copy elements of their operands as they are: rows, and
// panels of what a tile takes as vectors. conv_bf16-inl.hpp has the same of
// pairs. Compiled once for each instruction set; included by conv's sources
// alone.
#if defined(NEAP_KERNELS_CONV_COPY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_COPY_INL
#undef NEAP_KERNELS_CONV_COPY_INL
#else
#define NEAP_KERNELS_CONV_COPY_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/kernels/gemm/gemm_pack-inl.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"
#include "neap/tensor/strided.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Operands of a convolution without pairs: a factor, which a tile multiplies
/// in one step, is an element.
template <class T>
struct ConvPlain {
  using Element = T;
  using Factor = T;
  using From = const T*;                        // where factors are made from
  static constexpr std::int64_t kElements = 1;  // of a factor

  /// Factors of the elements at `at` and of those `apart` behind, if there are.
  static From from(const T* at, std::int64_t apart, bool has_next) {
    static_cast<void>(apart);
    static_cast<void>(has_next);
    return at;
  }
};

/// The offsets at which the factors of a view begin along one of its axes;
/// pairs run along that axis.
template <class MicroKernels>
class ConvFactors {
 public:
  /// Factors of `extent` elements along the axis, starting `first` elements
  /// into the view.
  ConvFactors(const Strided& view, int axis, std::int64_t extent,
              std::int64_t first) noexcept
      : from_(view.as<const typename MicroKernels::Element>() + first),
        apart_(view.strides[axis]),
        extent_(extent) {}

  /// Between neighbours along the axis, and between those of a pair.
  std::int64_t step() const noexcept {
    return MicroKernels::kElements * apart_;
  }
  std::int64_t apart() const noexcept { return apart_; }

  typename MicroKernels::From at(std::int64_t i) const noexcept {
    return MicroKernels::from(from_ + i * step(), apart_,
                              (i + 1) * MicroKernels::kElements <= extent_);
  }

 private:
  const typename MicroKernels::Element* from_;
  std::int64_t apart_;
  std::int64_t extent_;
};

/// `count` elements; nothing behind them is touched.
template <class T>
HWY_INLINE void copy_dense(const T* from, std::int64_t count, T* to) {
  const hn::ScalableTag<T> d;
  std::int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  }
  if (i < count) {
    store_first(d, load_first(d, from + i, count - i), to + i, count - i);
  }
}

/// to[i] = from[i * step] for `count` elements, at most a vector; nothing else
/// is touched.
template <class T>
HWY_INLINE void copy_steps(const T* from, std::int64_t step, std::int64_t count,
                           T* to) {
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  if (step == 1) {
    store_first(d, load_first(d, from, count), to, count);
    return;
  }
  if (step == 2) {
    const std::int64_t span = 2 * count - 1;
    const auto low = load_first(d, from, std::min(span, kLanes<T>));
    const auto high = span > kLanes<T>
                          ? load_first(d, from + kLanes<T>, span - kLanes<T>)
                          : low;
    store_first(d, hn::ConcatEven(d, high, low), to, count);
    return;
  }
#endif
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = from[i * step];
  }
}

/// to[i] = from[i * step] for i in [0, count), for any count.
template <class T>
HWY_INLINE void copy_row(const T* from, std::int64_t step, std::int64_t count,
                         T* to) {
  for (std::int64_t i = 0; i < count; i += kLanes<T>) {
    copy_steps(from + i * step, step, std::min(kLanes<T>, count - i), to + i);
  }
}

/// Fetches `count` elements in each of some rows.
template <class T>
HWY_INLINE void fetch_rows(const T* from, std::int64_t step, std::int64_t rows,
                           std::int64_t count) {
  constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
  for (std::int64_t j = 0; j < rows; ++j, from += step) {
    for (std::int64_t i = 0; i < count; i += kLine) {
      hwy::Prefetch(from + i);
    }
    hwy::Prefetch(from + count - 1);
  }
}

/// pack_panel() for one whole panel, some depth at a time: what comes next is
/// fetched meanwhile, since rows this far apart are not foreseen otherwise.
template <class T>
void pack_conv_panel(const T* from, std::int64_t across, std::int64_t along,
                     std::int64_t width, std::int64_t depth, T* to) {
  constexpr std::int64_t kSome = 32;
  constexpr std::int64_t kPanel = kTileColumns<T>;
  if (along != 1 || depth <= kSome) {
    pack_panel<kPanel>(from, across, along, width, depth, to);
    return;
  }
  fetch_rows(from, across, width, kSome);
  fetch_rows(to, 0, 1, kSome * kPanel);
  for (std::int64_t k = 0; k < depth; k += kSome) {
    const std::int64_t left = depth - k - kSome;
    if (left > 0) {
      fetch_rows(from + k + kSome, across, width, std::min(kSome, left));
      fetch_rows(to + (k + kSome) * kPanel, 0, 1,
                 std::min(kSome, left) * kPanel);
    }
    pack_panel<kPanel>(from + k, across, 1, width, std::min(kSome, depth - k),
                       to + k * kPanel);
  }
}

/// Some columns of weights: where the factors of a tap are, and how many.
struct ConvTaps {
  std::int64_t across = 0;  // between columns
  std::int64_t along = 0;   // between taps
  std::int64_t width = 0;   // columns
  std::int64_t taps = 0;
};

/// Packs a panel of `count` channels from `channel` on, their taps evenly
/// apart.
template <class T>
void pack_conv_taps(const ConvFactors<ConvPlain<T>>& channels,
                    std::int64_t channel, std::int64_t count, const ConvTaps& w,
                    T* to) {
  if (channels.step() == w.taps * w.along) {
    pack_conv_panel(channels.at(channel), w.across, w.along, w.width,
                    count * w.taps, to);
    return;
  }
  for (std::int64_t c = 0; c < count; ++c) {
    pack_conv_panel(channels.at(channel + c), w.across, w.along, w.width,
                    w.taps, to + c * w.taps * kTileColumns<T>);
  }
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
