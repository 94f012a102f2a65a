// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One part of a planned conv2d or conv_transpose2d, in one thread: the loops
// over bands, blocks of channels, panels and classes. The set of micro-kernels
// says what factors are: elements (ConvPlain) or pairs of channels (ConvBf16).
// Compiled once for each instruction set; included by conv.cpp alone.
#if defined(NEAP_KERNELS_CONV_PART_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_PART_INL
#undef NEAP_KERNELS_CONV_PART_INL
#else
#define NEAP_KERNELS_CONV_PART_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/kernels/conv/conv_image-inl.hpp"
#include "neap/kernels/conv/conv_plan.hpp"
#include "neap/kernels/conv/conv_tile-inl.hpp"
#include "neap/kernels/gemm/gemm_pack-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

template <class MicroKernels>
class ConvPart {
  using T = typename MicroKernels::Element;
  using Factor = typename MicroKernels::Factor;
  using Tile = ConvTile<T, Factor>;
  using Window = ConvWindow<MicroKernels>;

 public:
  ConvPart(const Conv& conv, ConvMakes makes, const ConvPlan& plan,
           std::int64_t part, std::byte* scratch)
      : conv_(conv),
        makes_(makes),
        plan_(plan),
        geometry_(conv_geometry(conv, makes)),
        source_(makes == ConvMakes::kY ? conv.x : conv.y),
        result_(makes == ConvMakes::kY ? conv.y : conv.x),
        source_channels_(makes == ConvMakes::kY ? conv.x_channels()
                                                : conv.y_channels()),
        begin_(part % plan.channel_parts * plan.part_channels),
        end_(std::min(begin_ + plan.part_channels, geometry_.channels)),
        steps_(reinterpret_cast<ConvStep*>(scratch)),
        rows_(reinterpret_cast<std::int32_t*>(
            steps_ + plan.block_channels * geometry_.taps() + kConvStepsAhead)),
        places_(rows_ +
                plan.band_samples * plan.band_rows * geometry_.extent[1]),
        sums_(reinterpret_cast<T*>(scratch + plan.table_bytes)),
        copy_(reinterpret_cast<Factor*>(scratch + plan.table_bytes +
                                        plan.sum_bytes)),
        packed_(reinterpret_cast<Factor*>(scratch + plan.table_bytes +
                                          plan.sum_bytes + plan.image_bytes)) {
    const std::int64_t place_part = part / plan.channel_parts;
    bands_ = {plan.bands * place_part / plan.place_parts,
              plan.bands * (place_part + 1) / plan.place_parts};
  }

  void run() {
    for (group_ = 0; group_ < geometry_.groups; ++group_) {
      if (plan_.keeps_weights) {
        keep_weights();
      }
      for (std::int64_t band = bands_.begin; band < bands_.end; ++band) {
        run_band(ConvBand::of(plan_, geometry_, band));
      }
    }
  }

 private:
  static constexpr std::int64_t kPanel = kTileColumns<T>;

  /// Places that the same taps reach.
  struct Class {
    const ConvAxis& down;
    const ConvAxis& along;
    ConvRange rows;
    ConvRange columns;
  };

  /// Calls body(axis, places) for each class of an axis.
  template <class Body>
  void for_classes(int axis, const ConvRange& result, const Body& body) const {
    const std::int64_t residues =
        geometry_.residues[static_cast<std::size_t>(axis)];
    for (std::int64_t r = 0; r < residues; ++r) {
      const ConvAxis places = conv_axis(conv_, makes_, axis, r);
      const ConvRange among = places.among(result);
      for (std::int64_t i = among.begin; i < among.end;) {
        const std::int64_t next = places.next_class(i, among.end);
        body(places, ConvRange{i, next});
        i = next;
      }
    }
  }

  /// Calls body(first channel of the result, channels, number) for each panel.
  template <class Body>
  void for_panels(const Body& body) const {
    for (std::int64_t channel = begin_; channel < end_; channel += kPanel) {
      body(channel, std::min(kPanel, end_ - channel),
           (channel - begin_) / kPanel);
    }
  }

  void run_band(const ConvBand& band) {
    const Window window(
        source_, 1, group_ * source_channels_, source_channels_,
        conv_source(conv_, makes_, 0, band.rows),
        conv_source(conv_, makes_, 1, {0, geometry_.extent[1]}));
    image_ = geometry_.is_depthwise
                 ? conv_image_by_lane(kPanel, window.rows().size(),
                                      window.columns().size())
                 : conv_image(plan_.block_channels, window.rows().size(),
                              window.columns().size(), sizeof(Factor));
    std::int64_t channel = 0;
    do {  // once at least: without a source, the bias is all there is
      const std::int64_t count =
          std::min(plan_.block_channels, geometry_.source_channels - channel);
      if (!geometry_.is_depthwise) {
        window.copy(band.sample, band.samples, channel, count, image_, copy_);
      }
      run_block(band, window, channel, count);
      channel += plan_.block_channels;
    } while (channel < geometry_.source_channels);
    for_panels([&](auto first, auto width, auto number) {
      store(band, first, width, number);
    });
  }

  /// Some channels of the source, from `channel` on, for every class and panel.
  void run_block(const ConvBand& band, const Window& window,
                 std::int64_t channel, std::int64_t count) {
    for_panels([&](auto first, auto width, auto number) {
      HWY_ALIGN T bias[kPanel];
      Tile tile{.image = copy_,
                .rows = rows_,
                .steps = steps_,
                .b = weights(channel, count, first, width, number),
                .sums = sums_of(band, number),
                .places = places_,
                .begins = channel == 0};
      if (tile.begins && conv_.has_bias()) {
        bias_of(first, width, bias);
        tile.start = bias;
      }
      if (geometry_.is_depthwise) {
        window.copy_by_lane(band.sample, band.samples, first, width, copy_);
      }
      const bool is_last = channel + count == geometry_.source_channels;
      const auto before = [&](std::int64_t place, std::int64_t rows) {
        if (is_last) {
          fetch_result(band, first, width, place / kPanel, rows);
        }
      };
      for_classes(0, band.rows, [&](const auto& down, const auto& rows) {
        for_classes(1, {0, geometry_.extent[1]},
                    [&](const auto& along, const auto& columns) {
                      const Class places{down, along, rows, columns};
                      tile.depth = list_steps(window, places, count);
                      if (tile.begins || tile.depth > 0) {
                        run_rows(tile, list_places(band, places),
                                 width > kLanes<T> ? 2 : 1, before);
                      }
                    });
      });
    });
  }

  template <class Before>
  void run_rows(const Tile& tile, std::int64_t rows, std::int64_t vectors,
                const Before& before) const {
    if (geometry_.is_depthwise) {
      run_conv_rows<true>(tile, rows, vectors, before);
    } else {
      run_conv_rows<false>(tile, rows, vectors, before);
    }
  }

  T* sums_of(const ConvBand& band, std::int64_t panel) const {
    return sums_ + panel * band.samples * band.rows.size() *
                       geometry_.extent[1] * kPanel;
  }

  /// Lists the offsets in the image of a class's places, counted from its first
  /// one, and those of their sums.
  std::int64_t list_places(const ConvBand& band, const Class& places) {
    const ConvAxis& down = places.down;
    const ConvAxis& along = places.along;
    std::int64_t count = 0;
    for (std::int64_t s = 0; s < band.samples; ++s) {
      for (std::int64_t i = places.rows.begin; i < places.rows.end; ++i) {
        const std::int64_t from = s * image_.sample + (i - places.rows.begin) *
                                                          down.source_step *
                                                          image_.pitch;
        const std::int64_t row =
            s * band.rows.size() + down.first + i * down.step - band.rows.begin;
        const std::int64_t to = row * geometry_.extent[1] + along.first;
        for (std::int64_t j = places.columns.begin; j < places.columns.end;
             ++j, ++count) {
          rows_[count] = static_cast<std::int32_t>(
              from +
              (j - places.columns.begin) * along.source_step * image_.column);
          places_[count] =
              static_cast<std::int32_t>((to + j * along.step) * kPanel);
        }
      }
    }
    return count;
  }

  /// Lists the elements that a class of pixels takes: by channel, then by tap.
  std::int64_t list_steps(const Window& window, const Class& places,
                          std::int64_t channels) {
    const ConvAxis& down = places.down;
    const ConvAxis& along = places.along;
    const std::int64_t first_row =
        down.origin + places.rows.begin * down.source_step;
    const std::int64_t first_column =
        along.origin + places.columns.begin * along.source_step;
    const std::int64_t corner =
        (first_row - window.rows().begin) * image_.pitch +
        (first_column - window.columns().begin) * image_.column;
    ConvStep* to = steps_;
    for (std::int64_t p = 0; p < down.taps; ++p) {
      for (std::int64_t q = 0; q < along.taps; ++q) {
        if (down.takes(places.rows.begin, p) &&
            along.takes(places.columns.begin, q)) {
          const std::int64_t at = corner + down.offset(p) * image_.pitch +
                                  along.offset(q) * image_.column;
          *to++ = {static_cast<std::int32_t>(at),
                   static_cast<std::int32_t>((p * along.taps + q) * kPanel)};
        }
      }
    }
    const std::int64_t taps = to - steps_;
    const auto plane = static_cast<std::int32_t>(image_.plane);
    const auto b = static_cast<std::int32_t>(geometry_.taps() * kPanel);
    for (std::int64_t i = taps; i < taps * channels; ++i) {
      steps_[i] = {steps_[i - taps].at + plane, steps_[i - taps].b + b};
    }
    return end_steps(steps_, steps_ + taps * channels);
  }

  void bias_of(std::int64_t channel, std::int64_t width, T* to) const {
    std::fill_n(to, kPanel, T{0});
    const std::int64_t step = conv_.bias.strides[0];
    const T* from = conv_.bias.as<const T>() +
                    (group_ * geometry_.channels + channel) * step;
    for (std::int64_t i = 0; i < width; ++i) {
      to[i] = from[i * step];
    }
  }

  // --- weights: panels of (channel of the source, tap) x channels ---

  /// The kept weights of a panel, for all channels of the source.
  Factor* kept(std::int64_t panel) const {
    return packed_ +
           panel * geometry_.source_channels * geometry_.taps() * kPanel;
  }

  void keep_weights() {
    for_panels([&](auto first, auto width, auto number) {
      pack(0, geometry_.source_channels, first, width, kept(number));
    });
  }

  const Factor* weights(std::int64_t channel, std::int64_t count,
                        std::int64_t first, std::int64_t width,
                        std::int64_t panel) const {
    if (plan_.keeps_weights) {
      return kept(panel) + channel * geometry_.taps() * kPanel;
    }
    pack(channel, count, first, width, packed_);
    return packed_;
  }

  void pack(std::int64_t channel, std::int64_t count, std::int64_t first,
            std::int64_t width, Factor* to) const {
    if (count == 0) {
      return;
    }
    const Shape& s = conv_.w.strides;
    const bool is_y = makes_ == ConvMakes::kY;
    const std::int64_t across = is_y || geometry_.is_depthwise ? s[0] : s[1];
    const ConvFactors<MicroKernels> along(
        conv_.w, is_y ? 1 : 0, source_channels_,
        group_ * conv_.y_channels() * s[0] + first * across);
    const std::int64_t taps = geometry_.taps();
    const std::int64_t columns = geometry_.kernel[1];
    if (s[2] == s[3] * columns) {
      pack_conv_taps(along, channel, count, {across, s[3], width, taps}, to);
      return;
    }
    for (std::int64_t c = channel; c < channel + count; ++c) {
      for (std::int64_t p = 0; p < geometry_.kernel[0]; ++p) {
        pack_conv_panel(along.at(c) + p * s[2], across, s[3], width, columns,
                        to);
        to += columns * kPanel;
      }
    }
  }

  /// The address for the band's sums of one sample.
  T* result_of(const ConvBand& band, std::int64_t sample,
               std::int64_t channel) const {
    const std::int64_t channels = geometry_.channels * geometry_.groups;
    const std::int64_t plane = (band.sample + sample) * channels +
                               group_ * geometry_.channels + channel;
    return result_.as<T>() + plane * geometry_.places() +
           band.rows.begin * geometry_.extent[1];
  }

  /// Brings the lines that the sums of some places will be stored to: while
  /// tiles are computed, there is time for it.
  void fetch_result(const ConvBand& band, std::int64_t first,
                    std::int64_t width, std::int64_t place,
                    std::int64_t count) const {
    const std::int64_t places = band.rows.size() * geometry_.extent[1];
    const T* to = result_of(band, place / places, first) + place % places;
    for (std::int64_t i = 0; i < width; ++i, to += geometry_.places()) {
      hwy::Prefetch(to);
      hwy::Prefetch(to + count - 1);
    }
  }

  void store(const ConvBand& band, std::int64_t first, std::int64_t width,
             std::int64_t panel) const {
    const std::int64_t places = band.rows.size() * geometry_.extent[1];
    for (std::int64_t s = 0; s < band.samples; ++s) {
      store_transposed(sums_of(band, panel) + s * places * kPanel, places,
                       width, result_of(band, s, first), geometry_.places());
    }
  }

  const Conv& conv_;
  const ConvMakes makes_;
  const ConvPlan& plan_;
  const ConvGeometry geometry_;
  const Strided& source_;
  const Strided& result_;
  const std::int64_t source_channels_;  // of a group, in elements
  const std::int64_t begin_;            // channels of the result, of each group
  const std::int64_t end_;
  ConvStep* const steps_;
  std::int32_t* const rows_;
  std::int32_t* const places_;
  T* const sums_;  // by panel, place and channel
  Factor* const copy_;
  Factor* const packed_;
  ConvRange bands_;
  std::int64_t group_ = 0;
  ConvImage image_;  // of the copy
};

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
