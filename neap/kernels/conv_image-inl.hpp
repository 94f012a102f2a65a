// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What the tile of a convolution reads besides packed vectors: some channels of
// an image, copied together. Compiled once for each instruction set; included
// by conv.cpp alone.
#if defined(NEAP_KERNELS_CONV_IMAGE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_IMAGE_INL
#undef NEAP_KERNELS_CONV_IMAGE_INL
#else
#define NEAP_KERNELS_CONV_IMAGE_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/kernels/conv_plan.hpp"
#include "neap/kernels/gemm_pack-inl.hpp"
#include "neap/kernels/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

/// The rows and columns of two ranges of an image (samples, channels, rows,
/// columns).
template <class T>
class ConvWindow {
 public:
  ConvWindow(const Strided& image, const ConvRange& rows,
             const ConvRange& columns) noexcept
      : image_(image), rows_(rows), columns_(columns) {}

  const ConvRange& rows() const noexcept { return rows_; }
  const ConvRange& columns() const noexcept { return columns_; }

  /// One panel of channels from the first, side by side; zeros behind them.
  void copy_by_lane(std::int64_t first_sample, std::int64_t samples,
                    std::int64_t first_channel, std::int64_t width,
                    T* to) const noexcept {
    const Shape& stride = image_.strides;
    const std::int64_t columns = columns_.size();
    const bool is_even = stride[2] == stride[3] * columns;
    const std::int64_t places = rows_.size() * columns;
    const std::int64_t run = is_even ? places : columns;
    for (std::int64_t s = 0; s < samples && places > 0; ++s) {
      const T* from = image_.as<const T>() + (first_sample + s) * stride[0] +
                      first_channel * stride[1] + rows_.begin * stride[2] +
                      columns_.begin * stride[3];
      for (std::int64_t i = 0; i < places; i += run) {
        pack_conv_panel(from, stride[1], stride[3], width, run, to);
        from += stride[2];
        to += run * kTileColumns<T>;
      }
    }
  }

  /// Copies `samples` and `channels` from the first ones.
  void copy(std::int64_t first_sample, std::int64_t samples,
            std::int64_t first_channel, std::int64_t channels,
            const ConvImage& layout, T* to) const noexcept {
    if (rows_.size() * columns_.size() == 0) {
      return;
    }
    const Shape& stride = image_.strides;
    for (std::int64_t s = 0; s < samples; ++s) {
      const T* from = image_.as<const T>() + (first_sample + s) * stride[0] +
                      first_channel * stride[1] + rows_.begin * stride[2] +
                      columns_.begin * stride[3];
      for (std::int64_t c = 0; c < channels; ++c, from += stride[1]) {
        copy_plane(from, c + kPlanesAhead < channels,
                   to + s * layout.sample + c * layout.plane);
      }
    }
  }

 private:
  static constexpr std::int64_t kPlanesAhead = 2;

  void copy_plane(const T* from, bool fetches, T* to) const noexcept {
    const std::int64_t row_step = image_.strides[2];
    const std::int64_t step = image_.strides[3];
    const std::int64_t width = columns_.size();
    if (step == 1 && row_step == width) {
      if (fetches) {
        fetch_rows(from + kPlanesAhead * image_.strides[1], 0, 1,
                   rows_.size() * width);
        fetch_rows(to + rows_.size() * width, 0, 1, rows_.size() * width);
      }
      copy_dense(from, rows_.size() * width, to);
      return;
    }
    for (std::int64_t row = 0; row < rows_.size(); ++row) {
      if (fetches) {
        fetch_rows(from + kPlanesAhead * image_.strides[1], 0, 1,
                   (width - 1) * step + 1);
      }
      for (std::int64_t i = 0; i < width; i += kLanes<T>) {
        copy_steps(from + i * step, step, std::min(kLanes<T>, width - i),
                   to + i);
      }
      from += row_step;
      to += width;
    }
  }

  const Strided& image_;
  const ConvRange rows_;
  const ConvRange columns_;
};

/// A band of the result's places, of one or several samples.
struct ConvBand {
  std::int64_t sample = 0;  // the first
  std::int64_t samples = 1;
  ConvRange rows;

  static ConvBand of(const ConvPlan& plan, const ConvGeometry& geometry,
                     std::int64_t number) noexcept {
    const std::int64_t per_sample = plan.sample_bands(geometry.extent[0]);
    ConvBand band;
    band.sample = number / per_sample * plan.band_samples;
    band.samples = std::min(plan.band_samples, geometry.samples - band.sample);
    band.rows.begin = number % per_sample * plan.band_rows;
    band.rows.end =
        std::min(band.rows.begin + plan.band_rows, geometry.extent[0]);
    return band;
  }
};

/// to[j * to_step + i] = from[i * kTileColumns + j] for i in [0, places) and j
/// in [0, channels): some places at a time, so that both sides stay in the
/// level-1 cache. Stores wait for their lines one after the other, so these are
/// fetched ahead of them.
template <class T>
void store_transposed(const T* from, std::int64_t places, std::int64_t channels,
                      T* to, std::int64_t to_step) {
  constexpr std::int64_t kPlaces = 64;
  constexpr std::int64_t kChannels = 4;
  for (std::int64_t i = 0; i < places; i += kPlaces) {
    const std::int64_t some = std::min(kPlaces, places - i);
    fetch_rows(to + i, to_step, std::min(kChannels, channels), some);
    for (std::int64_t j = 0; j < channels; j += kChannels) {
      const std::int64_t next = std::min(j + kChannels, channels);
      fetch_rows(to + next * to_step + i, to_step,
                 std::min(kChannels, channels - next), some);
      transpose(from + i * kTileColumns<T> + j, kTileColumns<T>, some, next - j,
                to + j * to_step + i, to_step);
    }
  }
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
