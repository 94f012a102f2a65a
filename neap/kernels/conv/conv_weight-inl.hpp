// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One part of a planned conv2d_weight, in one thread. The rows of a tile are
// channels of x for one tap, its vectors channels of y, and its depth the
// places of y that the tap reaches from inside of x, so that every sum runs
// over samples, rows and columns in order. The set of micro-kernels says what
// factors are: elements (ConvPlain) or pairs of samples (ConvBf16). Compiled
// once for each instruction set; included by conv.cpp alone.
#if defined(NEAP_KERNELS_CONV_WEIGHT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_WEIGHT_INL
#undef NEAP_KERNELS_CONV_WEIGHT_INL
#else
#define NEAP_KERNELS_CONV_WEIGHT_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/base/ceil_div.hpp"
#include "neap/kernels/conv/conv_image-inl.hpp"
#include "neap/kernels/conv/conv_plan.hpp"
#include "neap/kernels/conv/conv_tile-inl.hpp"
#include "neap/kernels/gemm/gemm_pack-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

template <class MicroKernels>
class ConvWeightPart {
  using T = typename MicroKernels::Element;
  using Factor = typename MicroKernels::Factor;
  using Tile = ConvTile<T, Factor>;
  using Window = ConvWindow<MicroKernels>;

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
        classes_(places_ + plan.block_channels),
        sums_(reinterpret_cast<T*>(scratch + plan.table_bytes)),
        copy_(reinterpret_cast<Factor*>(scratch + plan.table_bytes +
                                        plan.sum_bytes)),
        packed_(reinterpret_cast<Factor*>(scratch + plan.table_bytes +
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
    for (group_ = 0; group_ < geometry_.groups; ++group_) {
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
  static constexpr std::int64_t kFewChannels = 6;

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
    const std::int64_t step = geometry_.source_channels * geometry_.taps();
    if (conv_.adds) {
      for_panels([&](auto first, auto width, T* sums) {
        pack_panel<kPanel>(weights_of(first), step, 1, width, sums_of_panel(),
                           sums);
      });
    } else if (plan_.bands == 0) {
      const std::int64_t panels = base::ceil_div(panels_.size(), kPanel);
      std::fill_n(sums_, panels * kPanel * sums_of_panel(), T{0});
    }
    for (std::int64_t band = 0; band < plan_.bands; ++band) {
      run_band(ConvBand::of(plan_, geometry_, band), band == 0 && !conv_.adds);
    }
    for_panels([&](auto first, auto width, const T* sums) {
      store_transposed(sums, sums_of_panel(), width, weights_of(first), step);
    });
  }

  /// The weights of a channel of y by the block's first channel of x.
  T* weights_of(std::int64_t channel) const {
    const std::int64_t o = group_ * geometry_.channels + channel;
    return conv_.w.template as<T>() +
           (o * geometry_.source_channels + block_.begin) * geometry_.taps();
  }

  void run_band(const ConvBand& band, bool begins) {
    const Window window(
        conv_.x, 0, group_ * geometry_.source_channels,
        geometry_.source_channels,
        conv_source(conv_, ConvMakes::kW, 0, band.rows),
        conv_source(conv_, ConvMakes::kW, 1, {0, geometry_.extent[1]}));
    image_ = geometry_.is_depthwise
                 ? conv_image_by_lane(kPanel, window.rows().size(),
                                      window.columns().size())
                 : conv_image(plan_.block_channels, window.rows().size(),
                              window.columns().size(), sizeof(Factor));
    if (!geometry_.is_depthwise) {
      window.copy(band.sample, band.samples, block_.begin, block_.size(),
                  image_, copy_);
    }
    for_panels([&](auto first, auto width, T* sums) {
      if (geometry_.is_depthwise) {
        window.copy_by_lane(band.sample, band.samples, first, width, copy_);
      }
      pack(band, first, width);
      const Tile tile{.image = copy_,
                      .rows = rows_,
                      .steps = steps_,
                      .b = packed_,
                      .sums = sums,
                      .places = places_,
                      .begins = begins};
      const std::int64_t vectors = width > kLanes<T> ? 2 : 1;
      if (geometry_.is_depthwise || block_.size() < kFewChannels) {
        run_by_places(tile, band, window, vectors);
      } else {
        run_by_taps(tile, band, window, vectors);
      }
    });
  }

  /// Tap by tap: the rows of a tile are the channels.
  void run_by_taps(Tile tile, const ConvBand& band, const Window& window,
                   std::int64_t vectors) {
    for (std::int64_t k = 0; k < block_.size(); ++k) {
      rows_[k] = static_cast<std::int32_t>(k * image_.plane);
      places_[k] = static_cast<std::int32_t>(k * geometry_.taps() * kPanel);
    }
    for (std::int64_t p = 0; p < down_.taps; ++p) {
      for (std::int64_t q = 0; q < along_.taps; ++q) {
        tile.depth = list_steps(band, window, p, q);
        if (tile.begins || tile.depth > 0) {
          run_rows(tile, block_.size(), vectors);
        }
        tile.sums += kPanel;
      }
    }
  }

  /// Row by row of y, and class by class of its columns, where channels alone
  /// would be too few rows: these are the channels and taps that reach such
  /// places.
  void run_by_places(Tile tile, const ConvBand& band, const Window& window,
                     std::int64_t vectors) {
    const std::int64_t columns = geometry_.extent[1];
    if (tile.begins) {
      std::fill_n(tile.sums, sums_of_panel() * kPanel, T{0});
      tile.begins = false;
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      steps_[j] = {
          static_cast<std::int32_t>(j * along_.source_step * image_.column),
          static_cast<std::int32_t>(j * kPanel)};
    }
    end_steps(steps_, steps_ + columns);
    for (std::int64_t s = 0; s < band.samples; ++s) {
      std::int64_t listed = band.rows.begin;  // lists are those of rows below
      for (std::int64_t i = band.rows.begin; i < band.rows.end; ++i) {
        if (i == listed) {
          list_classes(window, i);
          listed = down_.next_class(i, band.rows.end);
        }
        const std::int64_t row = s * band.rows.size() + i - band.rows.begin;
        tile.b = packed_ + row * columns * kPanel;
        tile.image =
            copy_ + s * image_.sample + i * down_.source_step * image_.pitch;
        run_classes(tile, vectors);
      }
    }
  }

  /// Each class of columns: its first and its number, how many channels and
  /// taps reach it, and these.
  void list_classes(const Window& window, std::int64_t i) {
    const std::int64_t columns = geometry_.extent[1];
    std::int32_t* to = classes_;
    for (std::int64_t j = 0; j < columns;) {
      const std::int64_t next = along_.next_class(j, columns);
      const std::int64_t count = list_taps(window, i, j, to + 3);
      to[0] = static_cast<std::int32_t>(j);
      to[1] = static_cast<std::int32_t>(next - j);
      to[2] = static_cast<std::int32_t>(count);
      to += 3 + 2 * count;
      j = next;
    }
  }

  void run_classes(Tile tile, std::int64_t vectors) const {
    const std::int32_t* at = classes_;
    for (std::int64_t j = 0; j < geometry_.extent[1]; j += at[1]) {
      if (j > 0) {
        at += 3 + 2 * at[2];
      }
      tile.steps = steps_ + j;
      tile.depth = at[1];
      tile.rows = at + 3;
      tile.places = at + 3 + at[2];
      run_rows(tile, at[2], vectors);
    }
  }

  /// Lists the offsets of the channels and taps that reach a place, counted
  /// from row 0 and column 0 of y, and then those of their sums.
  std::int64_t list_taps(const Window& window, std::int64_t i, std::int64_t j,
                         std::int32_t* to) const {
    const std::int64_t down = down_.taken(i);
    const std::int64_t along = along_.taken(j);
    const std::int64_t count = block_.size() * down * along;
    std::int32_t* sums = to + count;
    for (std::int64_t row = 0; row < sums_of_panel(); ++row) {
      const std::int64_t q = row % along_.taps;
      const std::int64_t p = row / along_.taps % down_.taps;
      const std::int64_t k = row / geometry_.taps();
      if (down_.takes(i, p) && along_.takes(j, q)) {
        *to++ = static_cast<std::int32_t>(
            k * image_.plane +
            (down_.at(0, p) - window.rows().begin) * image_.pitch +
            (along_.at(0, q) - window.columns().begin) * image_.column);
        *sums++ = static_cast<std::int32_t>(row * kPanel);
      }
    }
    return count;
  }

  void run_rows(const Tile& tile, std::int64_t rows,
                std::int64_t vectors) const {
    const auto nothing = [](std::int64_t, std::int64_t) {};
    if (geometry_.is_depthwise) {
      run_conv_rows<true>(tile, rows, vectors, nothing);
    } else {
      run_conv_rows<false>(tile, rows, vectors, nothing);
    }
  }

  /// Lists the elements of a channel of x that a tap reaches inside of x, each
  /// with its pixel of y.
  std::int64_t list_steps(const ConvBand& band, const Window& window,
                          std::int64_t p, std::int64_t q) {
    const ConvRange all = down_.reached(p);
    const ConvRange rows{std::max(all.begin, band.rows.begin),
                         std::min(all.end, band.rows.end)};
    const ConvRange columns = along_.reached(q);
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
    const ConvFactors<MicroKernels> samples(
        y, 0, conv_.samples(),
        (group_ * geometry_.channels + first) * s[1] + band.rows.begin * s[2]);
    Factor* to = packed_;
    for (std::int64_t n = 0; n < band.samples; ++n) {
      typename MicroKernels::From from = samples.at(band.sample + n);
      for (std::int64_t i = 0; i < band.rows.size() * columns; i += run) {
        pack_conv_panel(from, s[1], s[3], width, run, to);
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
  std::int32_t* const classes_;
  T* const sums_;  // by panel, channel of x, tap and channel of y
  Factor* const copy_;
  Factor* const packed_;
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
