// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One part of a planned conv2d_weight, in one thread. The rows of a tile are
// channels of x for one tap, its vectors channels of y, and its depth the
// places of y that the tap reaches from inside of x, so that every sum runs
// over samples, rows and columns in order. Compiled once for each instruction
// set; included by conv.cpp alone.
#if defined(NEAP_KERNELS_CONV_WEIGHT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_WEIGHT_INL
#undef NEAP_KERNELS_CONV_WEIGHT_INL
#else
#define NEAP_KERNELS_CONV_WEIGHT_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/kernels/conv_image-inl.hpp"
#include "neap/kernels/conv_plan.hpp"
#include "neap/kernels/conv_tile-inl.hpp"
#include "neap/kernels/gemm_pack-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

template <class T>
class ConvWeightPart {
 public:
  ConvWeightPart(const Conv& conv, const ConvPlan& plan, std::int64_t part,
                 std::byte* scratch)
      : conv_(conv),
        plan_(plan),
        geometry_(conv_geometry(conv, ConvMakes::kW)),
        down_(conv_axis(conv, ConvMakes::kW, 0, 0)),
        along_(conv_axis(conv, ConvMakes::kW, 1, 0)),
        steps_(reinterpret_cast<ConvStep*>(scratch)),
        rows_(reinterpret_cast<std::int32_t*>(
            steps_ + plan.band_samples * plan.band_rows * geometry_.extent[1] +
            kConvStepsAhead)),
        places_(rows_ + plan.block_channels),
        sums_(reinterpret_cast<T*>(scratch + plan.table_bytes)),
        copy_(
            reinterpret_cast<T*>(scratch + plan.table_bytes + plan.sum_bytes)),
        packed_(reinterpret_cast<T*>(scratch + plan.table_bytes +
                                     plan.sum_bytes + plan.image_bytes)) {
    const std::int64_t first = part % plan.channel_parts * plan.part_channels;
    channels_ = {first,
                 std::min(first + plan.part_channels, geometry_.channels)};
    const std::int64_t source = part / plan.channel_parts * plan.part_source;
    source_ = {source,
               std::min(source + plan.part_source, geometry_.source_channels)};
  }

  void run() {
    const std::int64_t panels = plan_.block_panels * kPanel;
    for (group_ = 0; group_ < conv_.attrs.groups; ++group_) {
      for (std::int64_t first = channels_.begin; first < channels_.end;
           first += panels) {
        panels_ = {first, std::min(first + panels, channels_.end)};
        for (std::int64_t k = source_.begin; k < source_.end;
             k += plan_.block_channels) {
          block_ = {k, std::min(k + plan_.block_channels, source_.end)};
          run_block();
        }
      }
    }
  }

 private:
  static constexpr std::int64_t kPanel = kTileColumns<T>;

  /// Calls body(first channel of y, channels, their sums) for each panel.
  template <class Body>
  void for_panels(const Body& body) const {
    for (std::int64_t channel = panels_.begin; channel < panels_.end;
         channel += kPanel) {
      body(channel, std::min(kPanel, panels_.end - channel),
           sums_ + (channel - panels_.begin) * sums_of_panel());
    }
  }

  std::int64_t sums_of_panel() const {
    return block_.size() * geometry_.taps();
  }

  void run_block() {
    if (plan_.bands == 0) {
      const std::int64_t panels = (panels_.size() + kPanel - 1) / kPanel;
      std::fill_n(sums_, panels * kPanel * sums_of_panel(), T{0});
    }
    for (std::int64_t band = 0; band < plan_.bands; ++band) {
      run_band(ConvBand::of(plan_, geometry_, band), band == 0);
    }
    const std::int64_t taps = geometry_.taps();
    for_panels([&](auto first, auto width, const T* sums) {
      const std::int64_t o = group_ * geometry_.channels + first;
      const std::int64_t step = geometry_.source_channels * taps;
      store_transposed(sums, sums_of_panel(), width,
                       conv_.w.as<T>() + o * step + block_.begin * taps, step);
    });
  }

  void run_band(const ConvBand& band, bool is_first) {
    const ConvWindow<T> window(
        conv_.x, conv_source(conv_, ConvMakes::kW, 0, band.rows),
        conv_source(conv_, ConvMakes::kW, 1, {0, geometry_.extent[1]}));
    image_ = conv_image(plan_.block_channels, window.rows().size(),
                        window.columns().size(), sizeof(T));
    window.copy(band.sample, band.samples,
                group_ * geometry_.source_channels + block_.begin,
                block_.size(), image_, copy_);
    for (std::int64_t k = 0; k < block_.size(); ++k) {
      rows_[k] = static_cast<std::int32_t>(k * image_.plane);
      places_[k] = static_cast<std::int32_t>(k * geometry_.taps() * kPanel);
    }
    for_panels([&](auto first, auto width, T* sums) {
      pack(band, first, width);
      ConvTile<T> tile{.image = copy_,
                       .rows = rows_,
                       .steps = steps_,
                       .b = packed_,
                       .sums = sums,
                       .places = places_,
                       .begins = is_first};
      for (std::int64_t p = 0; p < down_.taps; ++p) {
        for (std::int64_t q = 0; q < along_.taps; ++q) {
          tile.depth = list_steps(band, window, p, q);
          if (is_first || tile.depth > 0) {
            run_conv_rows(tile, block_.size(), width > kLanes<T> ? 2 : 1,
                          [](auto, auto) {});
          }
          tile.sums += kPanel;
        }
      }
    });
  }

  /// The places of y that a tap reaches from inside of x, along an axis.
  static ConvRange reached(const ConvAxis& axis, std::int64_t tap,
                           const ConvRange& places) {
    const std::int64_t step = axis.source_step;
    const std::int64_t before = -axis.at(0, tap);  // that x begins
    const std::int64_t left = axis.source - 1 + before;
    const std::int64_t begin = before <= 0 ? 0 : (before + step - 1) / step;
    const std::int64_t end = left < 0 ? 0 : left / step + 1;
    return {std::max(begin, places.begin), std::min(end, places.end)};
  }

  /// What a channel of x has for each of them, and y.
  std::int64_t list_steps(const ConvBand& band, const ConvWindow<T>& window,
                          std::int64_t p, std::int64_t q) {
    const ConvRange rows = reached(down_, p, band.rows);
    const ConvRange columns = reached(along_, q, {0, geometry_.extent[1]});
    ConvStep* to = steps_;
    for (std::int64_t s = 0; s < band.samples; ++s) {
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t from =
            s * image_.sample +
            (down_.at(i, p) - window.rows().begin) * image_.pitch +
            along_.at(0, q) - window.columns().begin;
        const std::int64_t row =
            (s * band.rows.size() + i - band.rows.begin) * geometry_.extent[1];
        for (std::int64_t j = columns.begin; j < columns.end; ++j) {
          *to++ = {static_cast<std::int32_t>(from + j * along_.source_step),
                   static_cast<std::int32_t>((row + j) * kPanel)};
        }
      }
    }
    return end_steps(steps_, to);
  }

  /// Places of y x some of its channels.
  void pack(const ConvBand& band, std::int64_t first,
            std::int64_t width) const {
    const Strided& y = conv_.y;
    const Shape& s = y.strides;
    const std::int64_t columns = geometry_.extent[1];
    const bool is_even = s[2] == s[3] * columns;
    const std::int64_t run = is_even ? band.rows.size() * columns : columns;
    T* to = packed_;
    for (std::int64_t n = 0; n < band.samples; ++n) {
      const T* from = y.as<const T>() + (band.sample + n) * s[0] +
                      (group_ * geometry_.channels + first) * s[1] +
                      band.rows.begin * s[2];
      for (std::int64_t i = 0; i < band.rows.size() * columns; i += run) {
        pack_panel<kPanel>(from, s[1], s[3], width, run, to);
        from += s[2];
        to += run * kPanel;
      }
    }
  }

  const Conv& conv_;
  const ConvPlan& plan_;
  const ConvGeometry geometry_;
  const ConvAxis down_;
  const ConvAxis along_;
  ConvStep* const steps_;
  std::int32_t* const rows_;
  std::int32_t* const places_;
  T* const sums_;  // by panel, channel of x, tap and channel of y
  T* const copy_;
  T* const packed_;
  ConvRange channels_;  // of y, of each group
  ConvRange source_;    // channels of x, of each group
  std::int64_t group_ = 0;
  ConvRange panels_;  // channels of y at a time
  ConvRange block_;   // channels of x at a time
  ConvImage image_;   // of the copy
};

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
