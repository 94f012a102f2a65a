// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One part of conv2d_weight of each channel by itself (conv_depthwise.hpp), in
// one thread: some vectors of channels. Of each vector, bands of y and the rows
// of x that they reach are copied channels side by side. Compiled once for each
// instruction set; included by conv_ways.cpp alone.
#if defined(NEAP_KERNELS_CONV_DEPTHWISE_WEIGHT_INL) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_DEPTHWISE_WEIGHT_INL
#undef NEAP_KERNELS_CONV_DEPTHWISE_WEIGHT_INL
#else
#define NEAP_KERNELS_CONV_DEPTHWISE_WEIGHT_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/kernels/conv/conv_depthwise.hpp"
#include "neap/kernels/conv/conv_image-inl.hpp"
#include "neap/kernels/conv/conv_lanes-inl.hpp"
#include "neap/kernels/conv/conv_masked-inl.hpp"
#include "neap/kernels/gemm/gemm_pack-inl.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3
namespace hn = hwy::HWY_NAMESPACE;

/// Some rows of y with what they reach of x, by some rows of taps.
template <class T>
struct DepthwiseBand {
  ConvAxis down;
  ConvAxis along;
  ConvRange rows;          // of y
  ConvRange window;        // rows of x
  ConvRange columns;       // of x
  ConvRange inner;         // columns of y that all taps reach
  std::int64_t first = 0;  // row of taps
  const T* x = nullptr;    // by place and channel
  const T* y = nullptr;
  T* sums = nullptr;  // by tap and channel
};

template <int kDown, int kAlong, class T>
struct DepthwiseWeightSums {
  using D = hn::ScalableTag<T>;
  hn::Vec<D> at[kDown][kAlong];
  const T* x[kDown];          // rows, of column 0 by tap 0
  hn::Mask<D> takes[kDown];   // all lanes or none
  std::int64_t tap_step = 0;  // between taps along, in elements
  std::int64_t step = 0;      // between places

  HWY_INLINE void start_row(const DepthwiseBand<T>& band, std::int64_t i) {
    const D d;
    tap_step = band.along.dilation * kLanes<T>;
    step = band.along.source_step * kLanes<T>;
#pragma GCC unroll 8
    for (int p = 0; p < kDown; ++p) {
      const std::int64_t row = band.down.at(i, band.first + p);
      const bool is_inside = row >= band.window.begin && row < band.window.end;
      const std::int64_t line = is_inside ? row - band.window.begin : 0;
      takes[p] = hn::FirstN(
          d, is_inside ? static_cast<std::size_t>(kLanes<T>) : std::size_t{0});
      x[p] = band.x + (line * band.columns.size() + band.along.origin -
                       band.columns.begin) *
                          kLanes<T>;
    }
  }

  template <bool kChecks>
  HWY_INLINE void add_place(const DepthwiseBand<T>& band, const T* y,
                            std::int64_t j) {
    const D d;
    const auto values = hn::LoadU(d, y + j * kLanes<T>);
#pragma GCC unroll 8
    for (int q = 0; q < kAlong; ++q) {
      if (kChecks && !band.along.takes(j, q)) {
        continue;
      }
#pragma GCC unroll 8
      for (int p = 0; p < kDown; ++p) {
        const auto places = hn::LoadU(d, x[p] + j * step + q * tap_step);
        at[p][q] = add_where(takes[p], places, values, at[p][q]);
      }
    }
  }

  HWY_INLINE void add_row(const DepthwiseBand<T>& band, std::int64_t i) {
    start_row(band, i);
    const T* y = band.y + (i - band.rows.begin) * band.along.count * kLanes<T>;
    for (std::int64_t j = 0; j < band.inner.begin; ++j) {
      add_place<true>(band, y, j);
    }
    for (std::int64_t j = band.inner.begin; j < band.inner.end; ++j) {
      add_place<false>(band, y, j);
    }
    for (std::int64_t j = band.inner.end; j < band.along.count; ++j) {
      add_place<true>(band, y, j);
    }
  }
};

template <int kDown, int kAlong, class T>
void run_depthwise_weights(const DepthwiseBand<T>& band) {
  const hn::ScalableTag<T> d;
  DepthwiseWeightSums<kDown, kAlong, T> sums;
  T* to = band.sums + band.first * kAlong * kLanes<T>;
#pragma GCC unroll 8
  for (int p = 0; p < kDown; ++p) {
#pragma GCC unroll 8
    for (int q = 0; q < kAlong; ++q) {
      sums.at[p][q] = hn::LoadU(d, to + (p * kAlong + q) * kLanes<T>);
    }
  }
  for (std::int64_t i = band.rows.begin; i < band.rows.end; ++i) {
    sums.add_row(band, i);
  }
#pragma GCC unroll 8
  for (int p = 0; p < kDown; ++p) {
#pragma GCC unroll 8
    for (int q = 0; q < kAlong; ++q) {
      hn::StoreU(sums.at[p][q], d, to + (p * kAlong + q) * kLanes<T>);
    }
  }
}

/// All rows of taps, some at a time: as many as registers hold the sums of.
template <class T>
void run_depthwise_weights(DepthwiseBand<T> band) {
  switch (band.down.taps) {
    case 3:
      run_depthwise_weights<3, 3>(band);
      break;
    case 5:
      run_depthwise_weights<5, 5>(band);
      break;
    default:
      run_depthwise_weights<4, 7>(band);
      band.first = 4;
      run_depthwise_weights<3, 7>(band);
  }
}

template <class T>
class ConvDepthwiseWeightPart {
 public:
  ConvDepthwiseWeightPart(const Conv& conv, const ConvDepthwisePlan& plan,
                          std::int64_t part, std::byte* scratch)
      : conv_(conv),
        plan_(plan),
        down_(conv_axis(conv, ConvMakes::kW, 0, 0)),
        along_(conv_axis(conv, ConvMakes::kW, 1, 0)),
        columns_(conv_source(conv, ConvMakes::kW, 1, {0, along_.count})),
        planes_{plan.part_planes * part,
                std::min(plan.part_planes * (part + 1), plan.planes)},
        sums_(reinterpret_cast<T*>(scratch)),
        packed_y_(reinterpret_cast<T*>(scratch + plan.table_bytes)),
        packed_x_(packed_y_ + plan.band_rows * along_.count * kLanes<T>) {}

  void run() {
    const std::int64_t taps = down_.taps * along_.taps;
    for (std::int64_t plane = planes_.begin; plane < planes_.end; ++plane) {
      const std::int64_t channel = plane * kLanes<T>;
      const std::int64_t width =
          std::min(kLanes<T>, conv_.w.shape[0] - channel);
      begin_sums<kLanes<T>>(conv_, conv_.w.as<const T>() + channel * taps,
                            width, taps, sums_);
      for (std::int64_t n = 0; n < conv_.samples(); ++n) {
        for (std::int64_t i = 0; i < down_.count; i += plan_.band_rows) {
          run_band(n, channel, width,
                   {i, std::min(i + plan_.band_rows, down_.count)});
        }
      }
      transpose(sums_, kLanes<T>, taps, width, conv_.w.as<T>() + channel * taps,
                taps);
    }
  }

 private:
  void run_band(std::int64_t sample, std::int64_t channel, std::int64_t width,
                const ConvRange& rows) const {
    const ConvRange window = conv_source(conv_, ConvMakes::kW, 0, rows);
    if (window.size() * columns_.size() == 0) {
      return;
    }
    pack(conv_.y, sample, channel, width, rows, {0, along_.count}, packed_y_);
    pack(conv_.x, sample, channel, width, window, columns_, packed_x_);
    if (sample + 1 < conv_.samples() && rows.size() == down_.count) {
      fetch(conv_.y, sample + 1, channel, width);
      fetch(conv_.x, sample + 1, channel, width);
    }
    ConvRange inner{0, along_.count};
    for (std::int64_t q = 0; q < along_.taps; ++q) {
      const ConvRange reached = along_.reached(q);
      inner = {std::max(inner.begin, reached.begin),
               std::min(inner.end, reached.end)};
    }
    if (inner.size() <= 0) {
      inner = {along_.count, along_.count};
    }
    run_depthwise_weights<T>({.down = down_,
                              .along = along_,
                              .rows = rows,
                              .window = window,
                              .columns = columns_,
                              .inner = inner,
                              .x = packed_x_,
                              .y = packed_y_,
                              .sums = sums_});
  }

  /// Some rows and columns of a vector of channels, these side by side.
  void pack(const Strided& image, std::int64_t sample, std::int64_t channel,
            std::int64_t width, const ConvRange& rows, const ConvRange& columns,
            T* to) const {
    const Shape& s = image.strides;
    const T* from = image.as<const T>() + sample * s[0] + channel * s[1] +
                    rows.begin * s[2] + columns.begin * s[3];
    const bool is_even = s[2] == s[3] * columns.size();
    const std::int64_t run = (is_even ? rows.size() : 1) * columns.size();
    for (std::int64_t i = 0; i < rows.size() * columns.size(); i += run) {
      pack_lanes<kLanes<T>>(from, s[1], s[3], width, run, to);
      from += s[2];
      to += run * kLanes<T>;
    }
  }

  /// Brings whole planes: while one sample is summed there is time for the
  /// next.
  static void fetch(const Strided& image, std::int64_t sample,
                    std::int64_t channel, std::int64_t width) {
    const Shape& s = image.strides;
    if (s[2] == s[3] * image.shape[3]) {
      fetch_lanes(image.as<const T>() + sample * s[0] + channel * s[1], s[1],
                  s[3], width, image.shape[2] * image.shape[3]);
    }
  }

  const Conv& conv_;
  const ConvDepthwisePlan& plan_;
  const ConvAxis down_;
  const ConvAxis along_;
  const ConvRange columns_;  // of x, that y reaches
  const ConvRange planes_;   // vectors of channels
  T* const sums_;
  T* const packed_y_;
  T* const packed_x_;
};

#endif  // AVX-512
}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
