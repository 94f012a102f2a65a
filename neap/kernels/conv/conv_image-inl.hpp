// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The image that the tile of a convolution reads besides packed vectors: some
// channels of an image, copied together. Compiled once for each instruction
// set; included by conv.cpp alone.
#if defined(NEAP_KERNELS_CONV_IMAGE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_IMAGE_INL
#undef NEAP_KERNELS_CONV_IMAGE_INL
#else
#define NEAP_KERNELS_CONV_IMAGE_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/kernels/conv/conv_bf16-inl.hpp"
#include "neap/kernels/conv/conv_copy-inl.hpp"
#include "neap/kernels/conv/conv_plan.hpp"
#include "neap/kernels/gemm/gemm_pack-inl.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The rows and columns of two ranges of an image (samples, channels, rows,
/// columns), in factors along the samples or the channels.
template <class MicroKernels>
class ConvWindow {
  using From = typename MicroKernels::From;
  using Factor = typename MicroKernels::Factor;

 public:
  /// `channels` of one group from `first_channel` on, in elements.
  ConvWindow(const Strided& image, int axis, std::int64_t first_channel,
             std::int64_t channels, const ConvRange& rows,
             const ConvRange& columns) noexcept
      : strides_(image.strides),
        axis_(axis),
        factors_(image, axis, axis == 0 ? image.shape[0] : channels,
                 first_channel * strides_[1] + rows.begin * strides_[2] +
                     columns.begin * strides_[3]),
        rows_(rows),
        columns_(columns) {}

  const ConvRange& rows() const noexcept { return rows_; }
  const ConvRange& columns() const noexcept { return columns_; }

  /// A panel of channels from the first, side by side; zeros behind them.
  void copy_by_lane(std::int64_t first_sample, std::int64_t samples,
                    std::int64_t first_channel, std::int64_t width,
                    Factor* to) const noexcept {
    const std::int64_t columns = columns_.size();
    const bool is_even = strides_[2] == strides_[3] * columns;
    const std::int64_t places = rows_.size() * columns;
    const std::int64_t run = is_even ? places : columns;
    for (std::int64_t s = 0; s < samples && places > 0; ++s) {
      From from = plane(first_sample + s, 0) + first_channel * strides_[1];
      for (std::int64_t i = 0; i < places; i += run) {
        pack_conv_panel(from, strides_[1], strides_[3], width, run, to);
        from += strides_[2];
        to += run * kTileColumns<typename MicroKernels::Element>;
      }
    }
  }

  /// Copies `samples` and `channels` from the first ones.
  void copy(std::int64_t first_sample, std::int64_t samples,
            std::int64_t first_channel, std::int64_t channels,
            const ConvImage& layout, Factor* to) const noexcept {
    if (rows_.size() * columns_.size() == 0) {
      return;
    }
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::int64_t c = 0; c < channels; ++c) {
        copy_plane(plane(first_sample + s, first_channel + c),
                   c + kPlanesAhead < channels,
                   to + s * layout.sample + c * layout.plane);
      }
    }
  }

 private:
  static constexpr std::int64_t kPlanesAhead = 2;

  From plane(std::int64_t sample, std::int64_t channel) const noexcept {
    return axis_ == 0 ? factors_.at(sample) + channel * strides_[1]
                      : factors_.at(channel) + sample * strides_[0];
  }

  void copy_plane(const From& from, bool fetches, Factor* to) const noexcept {
    const std::int64_t step = strides_[3];
    const std::int64_t width = columns_.size();
    const std::int64_t ahead =
        kPlanesAhead * (axis_ == 0 ? strides_[1] : factors_.step());
    if (step == 1 && strides_[2] == width) {
      const std::int64_t count = rows_.size() * width;
      if (fetches) {
        fetch_rows(from + ahead, 0, 1, count);
        fetch_rows(to + count, 0, 1, count);
      }
      copy_dense(from, count, to);
      return;
    }
    From row = from;
    for (std::int64_t i = 0; i < rows_.size(); ++i) {
      if (fetches) {
        fetch_rows(row + ahead, 0, 1, (width - 1) * step + 1);
      }
      copy_row(row, step, width, to);
      row += strides_[2];
      to += width;
    }
  }

  const Shape& strides_;
  const int axis_;
  const ConvFactors<MicroKernels> factors_;
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
