// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The products of a recurrent step over packed weights, and what the cells'
// loops share. Compiled once for each instruction set.
#if defined(NEAP_KERNELS_RECURRENT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_RECURRENT_INL
#undef NEAP_KERNELS_RECURRENT_INL
#else
#define NEAP_KERNELS_RECURRENT_INL
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "neap/kernels/elementwise-inl.hpp"
#include "neap/kernels/gemm_pack-inl.hpp"
#include "neap/kernels/gemm_tile-inl.hpp"
#include "neap/kernels/math-inl.hpp"
#include "neap/kernels/recurrent.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Units in a panel of packed weights.
template <class T>
inline constexpr std::int64_t kPanelUnits = kTileColumns<T>;

template <class T>
void pack_units(const T* from, std::int64_t across, std::int64_t along,
                std::int64_t width, std::int64_t depth, T* to) {
  if (width > kLanes<T>) {
    pack_panel<kTileColumns<T>>(from, across, along, width, depth, to);
  } else {
    pack_panel<kLanes<T>>(from, across, along, width, depth, to);
  }
}

/// From k to k + 1 of a packed panel that begins at `unit`.
template <class T>
std::int64_t panel_step(std::int64_t unit, std::int64_t hidden) {
  return hidden - unit > kLanes<T> ? kTileColumns<T> : kLanes<T>;
}

/// For h w_hh^T: the panels of the first gate, of the second, ...
template <class T>
void pack_forward(const Strided& w, std::int64_t index, T* packed) {
  const std::int64_t hidden = w.shape[1];
  const std::int64_t panels = (hidden + kPanelUnits<T> - 1) / kPanelUnits<T>;
  const std::int64_t unit = index % panels * kPanelUnits<T>;
  const std::int64_t row = index / panels * hidden + unit;
  pack_units(w.as<const T>() + row * w.strides[0], w.strides[0], w.strides[1],
             std::min(kPanelUnits<T>, hidden - unit), hidden, packed);
}

/// For d gates w_hh, whose last `rolled` rows come first.
template <class T>
void pack_rolled(const Strided& w, std::int64_t index, std::int64_t rolled,
                 T* packed) {
  const std::int64_t hidden = w.shape[1];
  const std::int64_t unit = index * kPanelUnits<T>;
  const std::int64_t width = std::min(kPanelUnits<T>, hidden - unit);
  const std::int64_t rest = w.shape[0] - rolled;
  const T* const from = w.as<const T>() + unit * w.strides[1];
  if (rolled != 0) {
    pack_units(from + rest * w.strides[0], w.strides[1], w.strides[0], width,
               rolled, packed);
  }
  pack_units(from, w.strides[1], w.strides[0], width, rest,
             packed + rolled * panel_step<T>(unit, hidden));
}

template <class T>
void pack_backward(const Strided& w, std::int64_t index, T* packed) {
  pack_rolled(w, index, 0, packed);
}

/// C = start + A W for the rows and units of a block.
template <class T>
struct StepProduct {
  const T* a = nullptr;
  std::int64_t a_step = 0;
  std::int64_t depth = 0;
  const T* weights = nullptr;    // the first panel
  std::int64_t panel_depth = 0;  // of a panel, however deep the product is
  const T* start = nullptr;      // of unit 0
  std::int64_t start_step = 0;
  T* c = nullptr;  // of unit 0
  std::int64_t c_step = 0;
};

template <class T>
void multiply(const StepProduct<T>& x, std::int64_t hidden,
              const RecurrentBlock& block) {
  const std::int64_t rows = block.row_end - block.row_begin;
  const std::int64_t panels = (rows + kTileRows - 1) / kTileRows;
  const std::int64_t most = (rows + panels - 1) / panels;
  for (std::int64_t unit = block.unit_begin; unit < block.unit_end;
       unit += kPanelUnits<T>) {
    const std::int64_t width = std::min(kPanelUnits<T>, block.unit_end - unit);
    const bool is_wide = width > kLanes<T>;
    TileArgs<T> tile;
    tile.depth = x.depth;
    tile.a_step = x.a_step;
    tile.b = x.weights + unit * x.panel_depth;
    tile.b_step = panel_step<T>(unit, hidden);
    tile.start_step = x.start_step;
    tile.c_step = x.c_step;
    tile.last = width - (is_wide ? kLanes<T> : 0);
    for (std::int64_t row = block.row_begin; row < block.row_end; row += most) {
      const std::int64_t count = std::min(most, block.row_end - row);
      tile.a = x.a + row * x.a_step;
      tile.start = x.start + row * x.start_step + unit;
      tile.c = x.c + row * x.c_step + unit;
      const auto index = static_cast<std::size_t>(count - 1);
      (is_wide ? kTiles<Walk::kAlong, 2, T>
               : kTiles<Walk::kAlong, 1, T>)[index](tile);
    }
  }
}

/// A product of a step forward, of the weights of gate `gate`.
template <class T>
StepProduct<T> forward_product(const ForwardStep<T>& step, std::int64_t gate) {
  const std::int64_t hidden = step.sizes.hidden;
  const std::int64_t panels = (hidden + kPanelUnits<T> - 1) / kPanelUnits<T>;
  return {.a = step.h,
          .a_step = step.h_step,
          .depth = step.depth,
          .weights = step.weights + gate * panels * kPanelUnits<T> * hidden,
          .panel_depth = hidden};
}

/// Adds d gates_(t+1) w_hh to dh.
template <class T>
void add_product(const BackwardStep<T>& step, const RecurrentBlock& block) {
  if (step.depth == 0) {
    return;
  }
  const std::int64_t hidden = step.sizes.hidden;
  multiply<T>({.a = step.after,
               .a_step = step.after_step,
               .depth = step.depth,
               .weights = step.weights,
               .panel_depth = step.depth,
               .start = step.dh,
               .start_step = hidden,
               .c = step.dh,
               .c_step = hidden},
              hidden, block);
}

/// One vector's place in a loop over units; kTail: the last, masked.
template <class T, bool kTail>
struct Lanes {
  std::size_t count;

  HWY_INLINE hn::Vec<hn::ScalableTag<T>> load(const T* from) const {
    const hn::ScalableTag<T> d;
    if constexpr (kTail) {
      return load_some(d, from, count);
    } else {
      return hn::LoadU(d, from);
    }
  }
  /// 0 where there is nothing.
  HWY_INLINE hn::Vec<hn::ScalableTag<T>> load_or_zero(const T* from) const {
    return from == nullptr ? hn::Zero(hn::ScalableTag<T>()) : load(from);
  }
  HWY_INLINE void store(hn::Vec<hn::ScalableTag<T>> v, T* to) const {
    const hn::ScalableTag<T> d;
    if constexpr (kTail) {
      store_some(d, v, to, count);
    } else {
      hn::StoreU(v, d, to);
    }
  }
};

template <class T>
HWY_INLINE T* offset(T* from, std::int64_t by) {
  return from == nullptr ? nullptr : from + by;
}

/// The cotangent of h: what the step after gives, and what is given from
/// outside.
template <class T, class Some>
HWY_INLINE auto cotangent_of_h(const BackwardStep<T>& step, std::int64_t row,
                               std::int64_t unit, const Some& lanes) {
  return hn::Add(
      lanes.load(step.dh + row * step.sizes.hidden + unit),
      lanes.load_or_zero(offset(step.dy, row * step.dy_step + unit)));
}

/// Derivatives by what goes in, from y = sigmoid, y = tanh.
template <class V>
HWY_INLINE V sigmoid_slope(V y) {
  return hn::NegMulAdd(y, y, y);
}
template <class D, class V>
HWY_INLINE V tanh_slope(D d, V y) {
  return hn::NegMulAdd(y, y, hn::Set(d, hn::TFromD<D>(1)));
}

/// Calls cell(row, unit, lanes) for every vector of units of the block.
template <class T, class Cell>
HWY_INLINE void for_cells(const RecurrentBlock& block, const Cell& cell) {
  for (std::int64_t row = block.row_begin; row < block.row_end; ++row) {
    std::int64_t unit = block.unit_begin;
    for (; unit + kLanes<T> <= block.unit_end; unit += kLanes<T>) {
      cell(row, unit, Lanes<T, false>{});
    }
    if (unit < block.unit_end) {
      cell(row, unit,
           Lanes<T, true>{static_cast<std::size_t>(block.unit_end - unit)});
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif  // the toggle
