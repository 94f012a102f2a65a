// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One part of a convolution vectorised over pixels, in one thread.
// Compiled once for each instruction set; included by conv_ways.cpp alone.
//
//   slot    a vector of places of one sample that follow each other
//   panel   of two slots, what each channel of the source and each tap has for
//           them: a step of the tile has two vectors of it
//   tile    some channels of the result x two slots, in registers
//
// Lanes that a tap reaches from outside of the source take no part in its step.
#if defined(NEAP_KERNELS_CONV_DIRECT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_DIRECT_INL
#undef NEAP_KERNELS_CONV_DIRECT_INL
#else
#define NEAP_KERNELS_CONV_DIRECT_INL
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "hwy/highway.h"
#include "neap/kernels/conv/conv_direct.hpp"
#include "neap/kernels/conv/conv_image-inl.hpp"
#include "neap/kernels/conv/conv_masked-inl.hpp"
#include "neap/kernels/gemm/gemm_pack-inl.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3
namespace hn = hwy::HWY_NAMESPACE;

/// Two vectors of places for some channels of the result.
template <class T>
struct DirectTile {
  std::int64_t depth = 0;                // steps
  const T* weights = nullptr;            // kDirectRows a step
  const T* panel = nullptr;              // two vectors a step
  const ConvLanes* lanes = nullptr;      // two a step; none: all take part
  const T* bias = nullptr;               // of each channel; none: zeros
  std::array<T*, 2> to{};                // the first channel's
  std::array<std::int64_t, 2> counts{};  // of places, [0, lanes]
  std::int64_t to_step = 0;              // between channels
  const T* next = nullptr;               // what a step brings for a later panel
  std::int64_t next_step = 0;            // from one step to the next
  std::int64_t next_width = 0;           // to the last element of it
};

template <bool kSome, int kRows, class T>
void run_direct_tile(const DirectTile<T>& tile) {
  using D = hn::ScalableTag<T>;
  const D d;
  hn::Vec<D> sums[kRows][2];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    sums[row][0] =
        tile.bias == nullptr ? hn::Zero(d) : hn::Set(d, tile.bias[row]);
    sums[row][1] = sums[row][0];
#pragma GCC unroll 2
    for (std::size_t v = 0; v < 2; ++v) {
      hwy::Prefetch(tile.to[v] + row * tile.to_step);
    }
  }
  const T* HWY_RESTRICT panel = tile.panel;
  const T* HWY_RESTRICT weights = tile.weights;
  const ConvLanes* lanes = tile.lanes;
  const T* next = tile.next;
  const std::int64_t next_step = tile.next_step;
  const std::int64_t next_width = tile.next_width;
  for (std::int64_t k = tile.depth; k > 0; --k) {
    hn::Vec<D> at[2];
    hn::Mask<D> takes[2];
    hwy::Prefetch(next);
    hwy::Prefetch(next + next_width);
    next += next_step;
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      at[v] = hn::LoadU(d, panel + v * kLanes<T>);
      hwy::Prefetch(panel + (2 * kStepsAhead + v) * kLanes<T>);
      if constexpr (kSome) {
        takes[v] = hn::LoadMaskBits(d, lanes[v].data());
      }
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const auto weight = hn::Set(d, weights[row]);
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        if constexpr (kSome) {
          sums[row][v] = add_where(takes[v], weight, at[v], sums[row][v]);
        } else {
          sums[row][v] = hn::MulAdd(weight, at[v], sums[row][v]);
        }
      }
    }
    panel += 2 * kLanes<T>;
    weights += kDirectRows;
    lanes += kSome ? 2 : 0;
  }
#pragma GCC unroll 2
  for (std::size_t v = 0; v < 2; ++v) {
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      T* to = tile.to[v] + row * tile.to_step;
      if (tile.counts[v] == kLanes<T>) {
        hn::StoreU(sums[row][v], d, to);
      } else {
        store_first(d, sums[row][v], to, tile.counts[v]);
      }
    }
  }
}

template <class T>
using DirectTileFunction = void (*)(const DirectTile<T>&);

template <bool kSome, class T, int... kIndices>
constexpr std::array<DirectTileFunction<T>, sizeof...(kIndices)>
direct_tiles_of(std::integer_sequence<int, kIndices...> /* indices */) {
  return {&run_direct_tile<kSome, kIndices + 1, T>...};
}

/// kDirectTiles<some, T>[rows - 1]
template <bool kSome, class T>
inline constexpr auto kDirectTiles = direct_tiles_of<kSome, T>(
    std::make_integer_sequence<int, kDirectMostRows>());

template <class T>
class ConvDirectPart {
 public:
  ConvDirectPart(const Conv& conv, ConvMakes makes, const ConvDirectPlan& plan,
                 std::int64_t part, std::byte* scratch)
      : conv_(conv),
        plan_(plan),
        geometry_(conv_geometry(conv, makes)),
        down_(conv_axis(conv, makes, 0, 0)),
        along_(conv_axis(conv, makes, 1, 0)),
        makes_y_(makes == ConvMakes::kY),
        source_(makes_y_ ? conv.x : conv.y),
        result_((makes_y_ ? conv.y : conv.x).as<T>()),
        slots_{plan.part_slots * part,
               std::min(plan.part_slots * (part + 1), plan.slots)},
        shift_(std::countr_zero(static_cast<std::uint64_t>(along_.step))),
        lanes_(reinterpret_cast<ConvLanes*>(scratch)),
        step_lanes_(lanes_ + plan.sample_slots * geometry_.taps()),
        weights_(reinterpret_cast<T*>(scratch + plan.lane_bytes)),
        bias_(weights_ + plan.tiles * plan.depth * kDirectRows),
        panel_(bias_ + plan.tiles * kDirectRows) {}

  void run() {
    pack_weights();
    list_lanes();
    for (std::int64_t slot = slots_.begin; slot < slots_.end;
         slot += plan_.panel_slots) {
      run_panel({slot, std::min(slot + plan_.panel_slots, slots_.end)});
    }
  }

 private:
  struct Slot {
    std::int64_t sample = 0;
    std::int64_t number = 0;  // in its sample
    std::int64_t first = 0;   // place
    std::int64_t count = 0;
  };

  std::int64_t rows_of(std::int64_t tile) const {
    return std::min(plan_.rows, geometry_.channels - tile * plan_.rows);
  }

  Slot slot_of(std::int64_t number) const {
    Slot slot{number / plan_.sample_slots, number % plan_.sample_slots};
    slot.first = slot.number * kLanes<T>;
    slot.count = std::min(kLanes<T>, down_.count * along_.count - slot.first);
    return slot;
  }

  /// Calls body(row, first column, columns, lane of the first) for each row of
  /// the slot's places.
  template <class Body>
  void for_rows(const Slot& slot, const Body& body) const {
    std::int64_t i = slot.first / along_.count;
    std::int64_t j = slot.first % along_.count;
    for (std::int64_t lane = 0; lane < slot.count;) {
      const std::int64_t some = std::min(along_.count - j, slot.count - lane);
      body(i, j, some, lane);
      lane += some;
      ++i;
      j = 0;
    }
  }

  /// Calls body(tap, row's place, columns, lane) for what one slot's row has
  /// inside of the source, for each tap.
  template <class Body>
  void for_taps(const Slot& slot, const Body& body) const {
    for (std::int64_t p = 0; p < down_.taps; ++p) {
      const ConvRange rows = down_.reached(p);
      for (std::int64_t q = 0; q < along_.taps; ++q) {
        const ConvRange columns = along_.reached(q);
        for_rows(slot, [&](auto i, auto j, auto some, auto lane) {
          const ConvRange taken{std::max(j, columns.begin),
                                std::min(j + some, columns.end)};
          if (i >= rows.begin && i < rows.end && taken.size() > 0) {
            body(p, q, i, taken, lane + taken.begin - j);
          }
        });
      }
    }
  }

  /// Lists the lanes that take part, for each slot of a sample and each tap.
  void list_lanes() {
    const std::int64_t taps = geometry_.taps();
    std::fill_n(lanes_, plan_.sample_slots * taps, ConvLanes{});
    for (std::int64_t number = 0; number < plan_.sample_slots; ++number) {
      for_taps(slot_of(number), [&](auto p, auto q, auto /* i */,
                                    const ConvRange& taken, auto lane) {
        ConvLanes& to = lanes_[number * taps + p * along_.taps + q];
        for (std::int64_t j = lane; j < lane + taken.size(); ++j) {
          to[static_cast<std::size_t>(j / 8)] |=
              static_cast<std::uint8_t>(1U << (j % 8));
        }
      });
    }
  }

  /// By tiles: steps x channels of the result. And the bias in the same way.
  void pack_weights() {
    const Shape& s = conv_.w.strides;
    const std::int64_t across = makes_y_ ? s[0] : s[1];
    const std::int64_t along = makes_y_ ? s[1] : s[0];
    const std::int64_t columns = geometry_.kernel[1];
    for (std::int64_t tile = 0; tile < plan_.tiles; ++tile) {
      const T* from = conv_.w.as<const T>() + tile * plan_.rows * across;
      T* to = weights_ + tile * plan_.depth * kDirectRows;
      const std::int64_t rows = rows_of(tile);
      if (geometry_.taps() == 1) {
        pack_panel<kDirectRows>(from, across, along, rows, plan_.depth, to);
      } else {
        for (std::int64_t k = 0; k < plan_.depth; k += columns) {
          const std::int64_t c = k / geometry_.taps();
          const std::int64_t p = k % geometry_.taps() / columns;
          pack_panel<kDirectRows>(from + c * along + p * s[2], across, s[3],
                                  rows, columns, to + k * kDirectRows);
        }
      }
      for (std::int64_t row = 0; conv_.has_bias() && row < rows; ++row) {
        bias_[tile * kDirectRows + row] =
            conv_.bias.as<const T>()[(tile * plan_.rows + row) *
                                     conv_.bias.strides[0]];
      }
    }
  }

  void run_panel(const ConvRange& slots) {
    next_slot_ = slots.end;
    for (std::int64_t slot = slots.begin; slot < slots.end; ++slot) {
      panel_slots_[static_cast<std::size_t>(slot - slots.begin)] =
          slot_of(slot);
    }
    for (std::int64_t slot = slots.begin; slot < slots.end;) {
      const std::int64_t left = plan_.sample_slots - slot % plan_.sample_slots;
      const std::int64_t end = std::min(slot + left, slots.end);
      pack({slot, end}, slot - slots.begin);
      slot = end;
    }
    for (std::int64_t t = 0; t < plan_.tiles; ++t) {
      for (std::int64_t at = 0; at < slots.size(); at += 2) {
        run_tile(t, at, slots.size());
      }
    }
  }

  /// A tile of the panel's slots `at` and, where there is one, the next.
  void run_tile(std::int64_t number, std::int64_t at, std::int64_t count) {
    HWY_ALIGN T edge[(kDirectMostRows * 2 + 1) * kLanes<T>];
    const std::int64_t rows = rows_of(number);
    DirectTile<T> tile{
        .depth = plan_.depth,
        .weights = weights_ + number * plan_.depth * kDirectRows,
        .panel = panel_of(at),
        .lanes = plan_.takes_all ? nullptr : step_lanes_ + at * plan_.depth,
        .bias = conv_.has_bias() ? bias_ + number * kDirectRows : nullptr,
        .to_step = plan_.scatters ? 2 * kLanes<T> : geometry_.places()};
    std::array<Slot, 2> slots;
    for (std::size_t v = 0; v < 2; ++v) {
      const std::int64_t slot = at + static_cast<std::int64_t>(v);
      slots[v] =
          slot < count ? panel_slots_[static_cast<std::size_t>(slot)] : Slot{};
      tile.counts[v] = slots[v].count;
      tile.to[v] = plan_.scatters
                       ? edge + static_cast<std::int64_t>(v) * kLanes<T>
                       : plane_of(slots[v].sample, number) + slots[v].first;
    }
    set_next(tile, number * (count + 1) / 2 + at / 2, count);
    const auto index = static_cast<std::size_t>(rows - 1);
    (plan_.takes_all ? kDirectTiles<false, T>
                     : kDirectTiles<true, T>)[index](tile);
    for (std::size_t v = 0; v < 2 && plan_.scatters; ++v) {
      scatter(slots[v], rows, tile.to[v], tile.bias,
              plane_of(slots[v].sample, number));
    }
  }

  /// Call number `call` of a panel's tiles brings what one slot of the next
  /// panel takes, where each step has a channel of its own: what lies this far
  /// apart is not foreseen otherwise.
  void set_next(DirectTile<T>& tile, std::int64_t call,
                std::int64_t count) const {
    tile.next = tile.panel;
    const std::int64_t number = next_slot_ + call;
    if (geometry_.taps() > 1 || call >= count || number >= slots_.end) {
      return;
    }
    const Slot slot = slot_of(number);
    const Shape& strides = source_.strides;
    const std::int64_t j = slot.first % along_.count;
    tile.next = source_.as<const T>() + slot.sample * strides[0] +
                down_.at(slot.first / along_.count, 0) * strides[2] +
                along_.at(j, 0) * strides[3];
    tile.next_step = strides[1];
    tile.next_width = (std::min(slot.count, along_.count - j) - 1) *
                      along_.source_step * strides[3];
  }

  /// Vectors of the slot with this number in the panel: two share the steps.
  T* panel_of(std::int64_t at) const {
    return panel_ + (at / 2 * 2 * plan_.depth + at % 2) * kLanes<T>;
  }
  ConvLanes* step_lanes_of(std::int64_t at) const {
    return step_lanes_ + at / 2 * 2 * plan_.depth + at % 2;
  }

  /// The result's plane for the first channel of a tile.
  T* plane_of(std::int64_t sample, std::int64_t tile) const {
    return result_ + (sample * geometry_.channels + tile * plan_.rows) *
                         geometry_.places();
  }

  /// Each place has a block of the result: the sum is its first element, and
  /// the others, that no tap reaches, are the bias alone.
  void scatter(const Slot& slot, std::int64_t rows, const T* from,
               const T* bias, T* to) const {
    const std::int64_t width = geometry_.extent[1];
    for_rows(slot, [&](auto i, auto j, auto some, auto lane) {
      const std::int64_t top = i * down_.step;
      const std::int64_t left = j * along_.step;
      const std::int64_t lines =
          std::min(down_.step, geometry_.extent[0] - top);
      const std::int64_t count = std::min(some * along_.step, width - left);
      T* at = to + top * width + left;
      for (std::int64_t row = 0; row < rows; ++row) {
        const T rest = bias == nullptr ? T{0} : bias[row];
        spread(from + row * 2 * kLanes<T> + lane, rest, count, at);
        for (std::int64_t line = 1; line < lines; ++line) {
          std::fill_n(at + line * width, count, rest);
        }
        at += geometry_.places();
      }
    });
  }

  /// to[i * step] = from[i], the rest between them, `count` elements in all.
  void spread(const T* from, T rest, std::int64_t count, T* to) const {
    const hn::ScalableTag<T> d;
    const std::int64_t step = along_.step;
    if (kLanes<T> % step != 0) {
      for (std::int64_t i = 0; i < count; ++i) {
        to[i] = i % step == 0 ? from[i / step] : rest;
      }
      return;
    }
    const hn::RebindToSigned<decltype(d)> di;
    const auto lane = hn::Iota(di, 0);
    const auto ones =
        hn::Set(di, static_cast<hn::TFromD<decltype(di)>>(step - 1));
    const auto is_first =
        hn::RebindMask(d, hn::Eq(hn::And(lane, ones), hn::Zero(di)));
    for (std::int64_t i = 0; i < count; i += kLanes<T>) {
      const auto values = hn::TableLookupLanes(
          hn::LoadU(d, from + i / step),
          hn::IndicesFromVec(d, hn::ShiftRightSame(lane, shift_)));
      store_first(d, hn::IfThenElse(is_first, values, hn::Set(d, rest)), to + i,
                  std::min(kLanes<T>, count - i));
    }
  }

  /// Slots of one sample, of which the first has this number in the panel.
  void pack(const ConvRange& slots, std::int64_t at) const {
    const Slot first = slot_of(slots.begin);
    const T* from = source_.as<const T>() + first.sample * source_.strides[0];
    if (plan_.is_flat) {
      pack_flat(from, first, slots.size(), at);
    } else {
      for (std::int64_t i = 0; i < slots.size(); ++i) {
        pack_rows(from, slot_of(slots.begin + i), panel_of(at + i));
      }
    }
    for (std::int64_t i = 0; i < slots.size() && !plan_.takes_all; ++i) {
      const ConvLanes* lanes = lanes_ + (first.number + i) * geometry_.taps();
      ConvLanes* to = step_lanes_of(at + i);
      for (std::int64_t c = 0; c < geometry_.source_channels; ++c) {
        for (std::int64_t tap = 0; tap < geometry_.taps(); ++tap, to += 2) {
          *to = lanes[tap];
        }
      }
    }
  }

  void pack_rows(const T* from, const Slot& slot, T* to) const {
    for_taps(slot,
             [&](auto p, auto q, auto i, const ConvRange& taken, auto lane) {
               const T* row = from + down_.at(i, p) * source_.strides[2] +
                              along_.at(taken.begin, q) * source_.strides[3];
               T* at = to + (p * along_.taps + q) * 2 * kLanes<T> + lane;
               for (std::int64_t c = 0; c < geometry_.source_channels; ++c) {
                 copy_steps(row, along_.source_step * source_.strides[3],
                            taken.size(), at);
                 row += source_.strides[1];
                 at += geometry_.taps() * 2 * kLanes<T>;
               }
             });
  }

  /// Where the places lie in the source as they do in the result, one tap's are
  /// all one stretch from theirs.
  void pack_flat(const T* from, const Slot& first, std::int64_t count,
                 std::int64_t at) const {
    const std::int64_t taps = geometry_.taps();
    const std::int64_t corner =
        first.first + down_.at(0, 0) * along_.count + along_.at(0, 0);
    const ConvLanes* lanes = lanes_ + first.number * taps;
    for (std::int64_t c = 0; c < geometry_.source_channels; ++c) {
      for (std::int64_t p = 0; p < down_.taps; ++p) {
        for (std::int64_t q = 0; q < along_.taps; ++q) {
          const std::int64_t tap = p * along_.taps + q;
          copy_slots(from + corner +
                         (down_.offset(p) - down_.offset(0)) * along_.count +
                         along_.offset(q) - along_.offset(0),
                     lanes + tap, count, at, (c * taps + tap) * 2 * kLanes<T>);
        }
      }
      from += source_.strides[1];
    }
  }

  /// A step of slots whose places follow each other.
  HWY_INLINE void copy_slots(const T* from, const ConvLanes* lanes,
                             std::int64_t count, std::int64_t at,
                             std::int64_t step) const {
    const hn::ScalableTag<T> d;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto takes = hn::LoadMaskBits(d, lanes->data());
      hn::StoreU(hn::MaskedLoad(takes, d, from + i * kLanes<T>), d,
                 panel_of(at + i) + step);
      lanes += geometry_.taps();
    }
  }

  const Conv& conv_;
  const ConvDirectPlan& plan_;
  const ConvGeometry geometry_;
  const ConvAxis down_;
  const ConvAxis along_;
  const bool makes_y_;
  const Strided& source_;
  T* const result_;
  const ConvRange slots_;
  const int
      shift_;  // the step along is 1 << shift_, where it divides the lanes
  ConvLanes* const lanes_;       // by slot of a sample and tap
  ConvLanes* const step_lanes_;  // of the panel
  T* const weights_;
  T* const bias_;
  T* const panel_;
  std::array<Slot, kDirectMostSlots> panel_slots_;
  std::int64_t next_slot_ = 0;  // the first of the next panel
};

#endif  // AVX-512
}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
