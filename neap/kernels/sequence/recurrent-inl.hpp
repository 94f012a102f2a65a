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
#include "neap/base/ceil_div.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"
#include "neap/kernels/gemm/gemm_micro_kernels-inl.hpp"
#include "neap/kernels/sequence/recurrent.hpp"

// A kind of network names its cells' loops, once for each instruction set, and
// chooses among them when it runs: `struct Rnn : rnn_dispatch`.
#ifndef NEAP_RECURRENT_PARTS
#define NEAP_RECURRENT_PARTS(name, Cells)                \
  RecurrentParts<float> name##_parts_f32() {             \
    return parts_of<Cells, PlainMicroKernels<float>>();  \
  }                                                      \
  RecurrentParts<double> name##_parts_f64() {            \
    return parts_of<Cells, PlainMicroKernels<double>>(); \
  }                                                      \
  RecurrentParts<float, Bf16Pair> name##_parts_bf16() {  \
    return bf16_parts_of<Cells>();                       \
  }
#define NEAP_RECURRENT_DISPATCH(name)                                     \
  HWY_EXPORT(name##_parts_f32);                                           \
  HWY_EXPORT(name##_parts_f64);                                           \
  HWY_EXPORT(name##_parts_bf16);                                          \
  struct name##_dispatch {                                                \
    static RecurrentParts<float> parts(float /* factor */) {              \
      return HWY_DYNAMIC_DISPATCH(name##_parts_f32)();                    \
    }                                                                     \
    static RecurrentParts<double> parts(double /* factor */) {            \
      return HWY_DYNAMIC_DISPATCH(name##_parts_f64)();                    \
    }                                                                     \
    static RecurrentParts<float, Bf16Pair> parts(Bf16Pair /* factor */) { \
      return HWY_DYNAMIC_DISPATCH(name##_parts_bf16)();                   \
    }                                                                     \
  };
#endif

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Units in a panel of packed weights.
template <class T>
inline constexpr std::int64_t kPanelUnits = kTileColumns<T>;

/// Steps of k that so many elements are.
template <class MicroKernels>
constexpr std::int64_t factors_of(std::int64_t elements) {
  return base::ceil_div(elements, MicroKernels::kElements);
}

template <class MicroKernels>
void pack_units(const typename MicroKernels::Element* from, std::int64_t across,
                std::int64_t along, std::int64_t width, std::int64_t depth,
                typename MicroKernels::Factor* to) {
  using T = typename MicroKernels::Element;
  if (width > kLanes<T>) {
    MicroKernels::template pack<kTileColumns<T>>(from, across, along, width,
                                                 depth, to);
  } else {
    MicroKernels::template pack<kLanes<T>>(from, across, along, width, depth,
                                           to);
  }
}

/// The step from k to k + 1 of a packed panel that begins at `unit`.
template <class T>
std::int64_t panel_step(std::int64_t unit, std::int64_t hidden) {
  return hidden - unit > kLanes<T> ? kTileColumns<T> : kLanes<T>;
}

/// For h w_hh^T: the panels of the first gate, of the second, ...
template <class MicroKernels>
void pack_forward(const Strided& w, std::int64_t index,
                  typename MicroKernels::Factor* packed) {
  using T = typename MicroKernels::Element;
  const std::int64_t hidden = w.shape[1];
  const std::int64_t panels = base::ceil_div(hidden, kPanelUnits<T>);
  const std::int64_t unit = index % panels * kPanelUnits<T>;
  const std::int64_t row = index / panels * hidden + unit;
  pack_units<MicroKernels>(
      w.as<const T>() + row * w.strides[0], w.strides[0], w.strides[1],
      std::min(kPanelUnits<T>, hidden - unit), hidden, packed);
}

/// For d gates w_hh: the rows of each gate after those of another.
template <class MicroKernels>
void pack_backward(const Strided& w, const RecurrentForm& form,
                   std::int64_t index, typename MicroKernels::Factor* packed) {
  using T = typename MicroKernels::Element;
  const std::int64_t hidden = w.shape[1];
  const std::int64_t unit = index * kPanelUnits<T>;
  const T* const from = w.as<const T>() + unit * w.strides[1];
  for (std::int64_t gate = 0; gate < form.gates; ++gate) {
    pack_units<MicroKernels>(
        from + form.weights_of(gate) * hidden * w.strides[0], w.strides[1],
        w.strides[0], std::min(kPanelUnits<T>, hidden - unit), hidden, packed);
    packed += factors_of<MicroKernels>(hidden) * panel_step<T>(unit, hidden);
  }
}

template <class MicroKernels>
void pack_dense_rows(const typename MicroKernels::Element* from,
                     std::int64_t rows, std::int64_t columns,
                     typename MicroKernels::Factor* to, std::int64_t to_step) {
  MicroKernels::pack_rows(from, columns, rows, columns, to, to_step);
}

/// C = start + A W for the rows and units of a block.
template <class MicroKernels>
struct StepProduct {
  using T = typename MicroKernels::Element;
  const typename MicroKernels::Factor* a = nullptr;
  std::int64_t a_step = 0;
  std::int64_t depth = 0;
  const typename MicroKernels::Factor* weights = nullptr;  // the first panel
  std::int64_t panel_depth = 0;  // of a panel, however deep the product is
  const T* start = nullptr;      // of unit 0
  std::int64_t start_step = 0;
  T* c = nullptr;  // of unit 0
  std::int64_t c_step = 0;
};

template <class MicroKernels>
void multiply(const StepProduct<MicroKernels>& x, std::int64_t hidden,
              const RecurrentBlock& block) {
  using T = typename MicroKernels::Element;
  const std::int64_t rows = block.row_end - block.row_begin;
  const std::int64_t panels = base::ceil_div(rows, kTileRows);
  const std::int64_t most = base::ceil_div(rows, panels);
  for (std::int64_t unit = block.unit_begin; unit < block.unit_end;
       unit += kPanelUnits<T>) {
    const std::int64_t width = std::min(kPanelUnits<T>, block.unit_end - unit);
    const bool is_wide = width > kLanes<T>;
    TileArgs<T, typename MicroKernels::Factor> tile;
    tile.depth = x.depth;
    tile.a_step = x.a_step;
    tile.b = x.weights + unit * x.panel_depth;
    tile.b_step = panel_step<T>(unit, hidden);
    tile.start_step = x.start_step;
    tile.c_step = x.c_step;
    tile.last = width - (is_wide ? kLanes<T> : 0);
    for (std::int64_t row = block.row_begin; row < block.row_end; row += most) {
      const auto count =
          static_cast<std::size_t>(std::min(most, block.row_end - row));
      tile.a = x.a + row * x.a_step;
      tile.start = x.start + row * x.start_step + unit;
      tile.c = x.c + row * x.c_step + unit;
      if (is_wide) {
        MicroKernels::template run<Walk::kAlong, 2>(tile, count);
      } else {
        MicroKernels::template run<Walk::kAlong, 1>(tile, count);
      }
    }
  }
}

template <class MicroKernels>
using ForwardStepOf =
    ForwardStep<typename MicroKernels::Element, typename MicroKernels::Factor>;
template <class MicroKernels>
using BackwardStepOf =
    BackwardStep<typename MicroKernels::Element, typename MicroKernels::Factor>;

/// A product of a step forward, of the weights of gate `gate`.
template <class MicroKernels>
StepProduct<MicroKernels> forward_product(
    const ForwardStepOf<MicroKernels>& step, std::int64_t gate) {
  constexpr std::int64_t kPanel = kPanelUnits<typename MicroKernels::Element>;
  const std::int64_t hidden = step.sizes.hidden;
  const std::int64_t depth = factors_of<MicroKernels>(hidden);
  const std::int64_t panels = base::ceil_div(hidden, kPanel);
  return {.a = step.h,
          .a_step = step.h_step,
          .depth = step.depth,
          .weights = step.weights + gate * panels * kPanel * depth,
          .panel_depth = depth};
}

/// Adds what h gives to a gate to the column of gates where it is made.
template <class MicroKernels>
void add_to_gate(const ForwardStepOf<MicroKernels>& step, std::int64_t gate,
                 typename MicroKernels::Element* sums, std::int64_t sums_step,
                 const RecurrentBlock& block) {
  StepProduct<MicroKernels> product = forward_product<MicroKernels>(step, gate);
  product.c = sums;
  product.c_step = sums_step;
  product.start = sums;
  product.start_step = sums_step;
  multiply(product, step.sizes.hidden, block);
}

/// Adds d gates_(t+1) w_hh to dh.
template <class MicroKernels>
void add_product(const BackwardStepOf<MicroKernels>& step,
                 const RecurrentBlock& block) {
  if (step.depth == 0) {
    return;
  }
  const std::int64_t hidden = step.sizes.hidden;
  multiply<MicroKernels>({.a = step.after,
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

/// Makes factors of the block's units of dense rows, for the step after.
template <class MicroKernels>
void keep_units(const typename MicroKernels::Element* from,
                std::int64_t columns, typename MicroKernels::Factor* to,
                std::int64_t to_step, const RecurrentBlock& block) {
  MicroKernels::pack_rows(from + block.row_begin * columns + block.unit_begin,
                          columns, block.row_end - block.row_begin,
                          block.unit_end - block.unit_begin,
                          to + block.row_begin * to_step +
                              block.unit_begin / MicroKernels::kElements,
                          to_step);
}

/// A whole step of some rows and units, of a network
///
///   struct Cells {
///     template <class MicroKernels>
///     static void products(const ForwardStepOf<MicroKernels>&, const
///     RecurrentBlock&); template <class T> static void forward(const
///     ForwardCells<T>&, const RecurrentBlock&); template <class T> static void
///     backward(const BackwardCells<T>&, const RecurrentBlock&);
///   };
template <class Cells, class MicroKernels>
void step_forward(const ForwardStepOf<MicroKernels>& step,
                  const RecurrentBlock& block) {
  using T = typename MicroKernels::Element;
  Cells::template products<MicroKernels>(step, block);
  Cells::template forward<T>(step, block);
  if constexpr (MicroKernels::kConverts) {
    keep_units<MicroKernels>(step.y, step.sizes.hidden, step.next_h,
                             step.h_step, block);
  }
}

template <class Cells, class MicroKernels>
void step_backward(const BackwardStepOf<MicroKernels>& step,
                   const RecurrentBlock& block) {
  using T = typename MicroKernels::Element;
  const std::int64_t hidden = step.sizes.hidden;
  add_product<MicroKernels>(step, block);
  Cells::template backward<T>(step, block);
  for (std::int64_t gate = 0;
       MicroKernels::kConverts && gate < step.form->gates; ++gate) {
    keep_units<MicroKernels>(
        step.dgates + gate * hidden, step.form->columns() * hidden,
        step.next_after + gate * step.gate_depth, step.after_step, block);
  }
}

template <class Cells, class MicroKernels>
RecurrentParts<typename MicroKernels::Element, typename MicroKernels::Factor>
parts_of() {
  return {.panel = kPanelUnits<typename MicroKernels::Element>,
          .pack = pack_forward<MicroKernels>,
          .pack_back = pack_backward<MicroKernels>,
          .pack_rows = pack_dense_rows<MicroKernels>,
          .forward = step_forward<Cells, MicroKernels>,
          .backward = step_backward<Cells, MicroKernels>,
          .product = add_product<MicroKernels>};
}

/// Nothing but the panel where has_bf16_dot() is false.
template <class Cells>
RecurrentParts<float, Bf16Pair> bf16_parts_of() {
#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
  return parts_of<Cells, Bf16MicroKernels>();
#else
  return {.panel = kPanelUnits<float>};
#endif
}

/// A vector's place in a loop over units; kTail: the last, masked.
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
  /// Nowhere where there is no place.
  HWY_INLINE void store_if(hn::Vec<hn::ScalableTag<T>> v, T* to) const {
    if (to != nullptr) {
      store(v, to);
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
HWY_INLINE auto cotangent_of_h(const BackwardCells<T>& step, std::int64_t row,
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
