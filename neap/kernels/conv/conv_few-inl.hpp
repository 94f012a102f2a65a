// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One part of conv2d_weight of images with few channels (conv_few.hpp), in one
// thread. Compiled once for each instruction set; included by conv_ways.cpp
// alone.
//
//   window   rows of x, copied with room for what taps reach outside of it
//   band     some rows of y, packed by panels of its channels, one at a time
//   run      places of one of these rows that the same taps reach
#if defined(NEAP_KERNELS_CONV_FEW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_FEW_INL
#undef NEAP_KERNELS_CONV_FEW_INL
#else
#define NEAP_KERNELS_CONV_FEW_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "hwy/highway.h"
#include "neap/kernels/conv/conv_few.hpp"
#include "neap/kernels/conv/conv_image-inl.hpp"
#include "neap/kernels/conv/conv_lanes-inl.hpp"
#include "neap/kernels/conv/conv_masked-inl.hpp"
#include "neap/kernels/conv/conv_tile-inl.hpp"
#include "neap/kernels/gemm/gemm_pack-inl.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3
namespace hn = hwy::HWY_NAMESPACE;

/// Some channels and taps x one panel of channels of y.
template <class T>
struct FewTile {
  const T* image = nullptr;            // what rows and runs count from
  const std::int32_t* rows = nullptr;  // where each row begins
  const ConvFewRun* runs = nullptr;
  const ConvFewRun* end = nullptr;
  std::int64_t step = 1;                // between places
  const ConvFewLanes* lanes = nullptr;  // what runs count from, of these rows
  const T* y = nullptr;                 // packed: kTileColumns a place
  const T* next = nullptr;              // y of the next band or panel
  const std::int64_t* ahead = nullptr;  // two of its lines for each place
  T* sums = nullptr;                    // kTileColumns a row
};

template <int kRows, int kVectors, class T>
struct FewSums {
  using D = hn::ScalableTag<T>;
  hn::Vec<D> at[kRows][kVectors];

  HWY_INLINE void begin(const T* from) {
    const D d;
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        at[row][v] = hn::LoadU(d, from + row * kTileColumns<T> + v * kLanes<T>);
      }
    }
  }

  HWY_INLINE void store(T* to) const {
    const D d;
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        hn::StoreU(at[row][v], d, to + row * kTileColumns<T> + v * kLanes<T>);
      }
    }
  }

  /// A place. `lanes` has those of each row; none: all take part.
  template <bool kSome>
  HWY_INLINE void add(const T* const* row_at, std::int64_t place,
                      const ConvFewLanes* lanes, const T* y) {
    const D d;
    hn::Vec<D> values[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      values[v] = hn::LoadU(d, y + v * kLanes<T>);
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const auto element = hn::Set(d, row_at[row][place]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        if constexpr (kSome) {
          const auto takes = hn::LoadMaskBits(d, lanes[row].data());
          at[row][v] = add_where(takes, element, values[v], at[row][v]);
        } else {
          at[row][v] = hn::MulAdd(element, values[v], at[row][v]);
        }
      }
    }
  }
};

template <int kRows, int kVectors, class T>
void run_few_tile(const FewTile<T>& tile) {
  const T* row_at[kRows];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    row_at[row] = tile.image + tile.rows[row];
  }
  const T* HWY_RESTRICT y = tile.y;
  const std::int64_t step = tile.step;
  const T* const next = tile.next;
  const std::int64_t* ahead = tile.ahead;
  // A line or two a place: more at once than the processor can wait for would
  // hold up everything else.
  const auto fetch = [&ahead, next] {
    hwy::Prefetch(next + ahead[0]);
    hwy::Prefetch(next + ahead[1]);
    ahead += 2;
  };
  FewSums<kRows, kVectors, T> sums;
  sums.begin(tile.sums);
  for (const ConvFewRun* run = tile.runs; run != tile.end; ++run) {
    std::int64_t place = run->at;
    const std::int64_t end = place + run->count * step;
    if (run->lanes < 0) {
      for (; place != end; place += step, y += kTileColumns<T>) {
        fetch();
        sums.template add<false>(row_at, place, nullptr, y);
      }
    } else {
      const ConvFewLanes* lanes = tile.lanes + run->lanes;
      for (; place != end; place += step, y += kTileColumns<T>) {
        fetch();
        sums.template add<true>(row_at, place, lanes, y);
      }
    }
  }
  sums.store(tile.sums);
}

template <class T>
using FewTileFunction = void (*)(const FewTile<T>&);

template <int kVectors, class T, int... kIndices>
constexpr std::array<FewTileFunction<T>, sizeof...(kIndices)> few_tiles_of(
    std::integer_sequence<int, kIndices...> /* indices */) {
  return {&run_few_tile<kIndices + 1, kVectors, T>...};
}

/// kFewTiles<vectors, T>[rows - 1]
template <int kVectors, class T>
inline constexpr auto kFewTiles =
    few_tiles_of<kVectors, T>(std::make_integer_sequence<int, kConvTileRows>());

template <class T>
class ConvFewPart {
 public:
  ConvFewPart(const Conv& conv, const ConvFewPlan& plan, std::int64_t part,
              std::byte* scratch)
      : conv_(conv),
        plan_(plan),
        down_(conv_axis(conv, ConvMakes::kW, 0, 0)),
        along_(conv_axis(conv, ConvMakes::kW, 1, 0)),
        channels_{part * plan.part_channels,
                  std::min((part + 1) * plan.part_channels, conv.y_channels())},
        sums_(reinterpret_cast<T*>(scratch)),
        packed_(reinterpret_cast<T*>(scratch + plan.sum_bytes)),
        image_(
            reinterpret_cast<T*>(scratch + plan.sum_bytes + plan.packed_bytes)),
        ahead_(reinterpret_cast<std::int64_t*>(
            scratch + plan.sum_bytes + plan.packed_bytes + plan.image_bytes)),
        runs_(reinterpret_cast<ConvFewRun*>(
            reinterpret_cast<std::byte*>(ahead_) + plan.ahead_bytes)),
        rows_(reinterpret_cast<std::int32_t*>(
            reinterpret_cast<std::byte*>(runs_) + plan.run_bytes)),
        lanes_(reinterpret_cast<ConvFewLanes*>(
            reinterpret_cast<std::byte*>(rows_) + plan.row_bytes)) {}

  void run() {
    list_rows();
    list_runs();
    list_ahead();
    for_panels([&](auto first, auto width, T* sums) {
      begin_sums<kPanel>(conv_, conv_.w.as<const T>() + first * plan_.rows,
                         width, plan_.rows, sums);
    });
    for (std::int64_t n = 0; n < conv_.samples(); ++n) {
      for (std::int64_t i = 0; i < down_.count; i += plan_.window_rows) {
        run_window(n, {i, std::min(i + plan_.window_rows, down_.count)});
      }
    }
    for_panels([&](auto first, auto width, const T* sums) {
      store_transposed(sums, plan_.rows, width,
                       conv_.w.as<T>() + first * plan_.rows, plan_.rows);
    });
  }

 private:
  static constexpr std::int64_t kPanel = kTileColumns<T>;

  /// Calls body(first channel of y, channels, their sums) for each panel.
  template <class Body>
  void for_panels(const Body& body) const {
    for (std::int64_t channel = channels_.begin; channel < channels_.end;
         channel += kPanel) {
      body(channel, std::min(kPanel, channels_.end - channel),
           sums_ + (channel - channels_.begin) * plan_.rows);
    }
  }

  /// Lists the offset of each channel and tap in the copy of x.
  void list_rows() {
    std::int32_t* to = rows_;
    for (std::int64_t k = 0; k < conv_.x_channels(); ++k) {
      for (std::int64_t p = 0; p < down_.taps; ++p) {
        for (std::int64_t q = 0; q < along_.taps; ++q) {
          *to++ = static_cast<std::int32_t>(k * plan_.plane +
                                            p * down_.dilation * plan_.pitch +
                                            q * along_.dilation);
        }
      }
    }
  }

  /// Lists the offsets in y of the lines of a band of one panel, a channel's
  /// first one after the other's.
  void list_ahead() {
    constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
    const Shape& s = conv_.y.strides;
    const std::int64_t most = std::min(kPanel, channels_.size()) - 1;
    for (std::int64_t i = 0; i < 2 * plan_.band_rows * along_.count; ++i) {
      ahead_[i] = std::min(i % kPanel, most) * s[1] + i / kPanel * kLine * s[3];
    }
  }

  /// Lists the runs of all rows of y, counted from the window's first, and the
  /// rows of the tiles that take part in each class of output pixels.
  void list_runs() {
    ConvFewRun* to = runs_;
    ConvFewLanes* lanes = lanes_;
    for (std::int64_t i = 0; i < down_.count;) {
      const std::int64_t next = down_.next_class(i, down_.count);
      const ConvFewLanes* const first = lanes;
      for (std::int64_t j = 0; j < along_.count;
           j = along_.next_class(j, along_.count)) {
        list_lanes(i, j, lanes);
        lanes += plan_.rows;
      }
      for (; i < next; ++i) {
        list_row(i, first, to);
        to += plan_.row_runs;
      }
    }
  }

  void list_lanes(std::int64_t i, std::int64_t j, ConvFewLanes* to) const {
    for (std::int64_t k = 0; k < conv_.x_channels(); ++k) {
      for (std::int64_t p = 0; p < down_.taps; ++p) {
        for (std::int64_t q = 0; q < along_.taps; ++q) {
          const bool takes = down_.takes(i, p) && along_.takes(j, q);
          to->fill(takes ? 0xFF : 0);
          ++to;
        }
      }
    }
  }

  /// The runs of row i of y.
  void list_row(std::int64_t i, const ConvFewLanes* lanes, ConvFewRun* to) {
    const std::int64_t row =
        i % plan_.window_rows * down_.source_step * plan_.pitch;
    for (std::int64_t j = 0; j < along_.count; ++to, lanes += plan_.rows) {
      const std::int64_t next = along_.next_class(j, along_.count);
      const bool takes_all =
          down_.taken(i) == down_.taps && along_.taken(j) == along_.taps;
      *to = {
          .at = static_cast<std::int32_t>(row + j * along_.source_step),
          .count = static_cast<std::int32_t>(next - j),
          .lanes = takes_all ? -1 : static_cast<std::int32_t>(lanes - lanes_)};
      j = next;
    }
  }

  void run_window(std::int64_t sample, const ConvRange& rows) {
    copy(sample, rows);
    for (std::int64_t i = rows.begin; i < rows.end; i += plan_.band_rows) {
      const ConvRange band{i, std::min(i + plan_.band_rows, rows.end)};
      for_panels([&](auto first, auto width, T* sums) {
        pack(sample, band, first, width);
        run_tiles(band, width, sums, next_of(sample, band, first));
      });
    }
  }

  /// The next panel, or the first one of the next band; at the end, this one.
  const T* next_of(std::int64_t sample, const ConvRange& rows,
                   std::int64_t first) const {
    if (first + kPanel < channels_.end) {
      return y_at(sample, rows, first + kPanel);
    }
    if (rows.end < down_.count) {
      return y_at(sample, {rows.end, down_.count}, channels_.begin);
    }
    if (sample + 1 < conv_.samples()) {
      return y_at(sample + 1, {0, down_.count}, channels_.begin);
    }
    return y_at(sample, rows, first);
  }

  const T* y_at(std::int64_t sample, const ConvRange& rows,
                std::int64_t channel) const {
    const Shape& s = conv_.y.strides;
    return conv_.y.template as<const T>() + sample * s[0] + channel * s[1] +
           rows.begin * s[2];
  }

  void run_tiles(const ConvRange& band, std::int64_t width, T* sums,
                 const T* next) const {
    FewTile<T> tile{.image = image_,
                    .rows = rows_,
                    .runs = runs_ + band.begin * plan_.row_runs,
                    .end = runs_ + band.end * plan_.row_runs,
                    .step = along_.source_step,
                    .lanes = lanes_,
                    .y = packed_,
                    .next = next,
                    .ahead = ahead_,
                    .sums = sums};
    for (std::int64_t left = plan_.rows; left > 0;) {
      const std::int64_t count = next_conv_rows(left);
      const auto index = static_cast<std::size_t>(count - 1);
      (width > kLanes<T> ? kFewTiles<2, T> : kFewTiles<1, T>)[index](tile);
      tile.rows += count;
      tile.lanes += count;
      tile.sums += count * kPanel;
      left -= count;
    }
  }

  /// Copies the part of x that some rows of y reach. Elements of the copy that
  /// lie outside of x stay unchanged, since no tap takes them.
  void copy(std::int64_t sample, const ConvRange& rows) const {
    const Strided& x = conv_.x;
    const std::int64_t top = down_.at(rows.begin, 0);
    const std::int64_t bottom = down_.at(rows.end - 1, down_.taps - 1) + 1;
    const std::int64_t left = along_.at(0, 0);
    const ConvRange down{std::max<std::int64_t>(top, 0),
                         std::min(bottom, down_.source)};
    const ConvRange along{std::max<std::int64_t>(left, 0),
                          std::min(left + plan_.pitch, along_.source)};
    if (along.size() <= 0) {
      return;
    }
    for (std::int64_t k = 0; k < conv_.x_channels(); ++k) {
      const T* from = x.as<const T>() + sample * x.strides[0] +
                      k * x.strides[1] + along.begin * x.strides[3];
      T* to = image_ + k * plan_.plane + along.begin - left;
      for (std::int64_t row = down.begin; row < down.end; ++row) {
        copy_row(from + row * x.strides[2], x.strides[3], along.size(),
                 to + (row - top) * plan_.pitch);
      }
    }
  }

  static void copy_row(const T* from, std::int64_t step, std::int64_t count,
                       T* to) {
    if (step == 1) {
      copy_dense(from, count, to);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = from[i * step];
    }
  }

  /// Some channels of some rows of y.
  void pack(std::int64_t sample, const ConvRange& rows, std::int64_t first,
            std::int64_t width) const {
    const Shape& s = conv_.y.strides;
    const T* from = y_at(sample, rows, first);
    const bool is_even = s[2] == s[3] * along_.count;
    const std::int64_t places = rows.size() * along_.count;
    const std::int64_t run = is_even ? places : along_.count;
    for (std::int64_t i = 0; i < places; i += run) {
      pack_lanes<kPanel>(from, s[1], s[3], width, run, packed_ + i * kPanel);
      from += s[2];
    }
  }

  const Conv& conv_;
  const ConvFewPlan& plan_;
  const ConvAxis down_;
  const ConvAxis along_;
  const ConvRange channels_;  // of y
  T* const sums_;             // by panel, row of the tiles and channel
  T* const packed_;
  T* const image_;
  std::int64_t* const ahead_;
  ConvFewRun* const runs_;
  std::int32_t* const rows_;
  ConvFewLanes* const lanes_;  // by class of places and row of the tiles
};

#endif  // AVX-512
}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
