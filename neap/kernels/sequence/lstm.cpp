// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sequence/lstm.hpp"

#include <array>

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/sequence/recurrent_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sequence/lstm.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/sequence/recurrent-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct LstmCells {
  template <class MicroKernels>
  static void products(const ForwardStepOf<MicroKernels>& step,
                       const RecurrentBlock& block) {
    const std::int64_t hidden = step.sizes.hidden;
    for (std::int64_t gate = 0; step.depth != 0 && gate < 4; ++gate) {
      add_to_gate<MicroKernels>(step, gate, step.gates + gate * hidden,
                                4 * hidden, block);
    }
  }

  template <class T>
  static void forward(const ForwardCells<T>& step,
                      const RecurrentBlock& block) {
    const std::int64_t hidden = step.sizes.hidden;
    const hn::ScalableTag<T> d;
    for_cells<T>(block, [&](std::int64_t row, std::int64_t unit,
                            const auto& lanes) HWY_ATTR {
      T* const gates = step.gates + 4 * row * hidden + unit;
      const std::int64_t at = row * hidden + unit;
      const auto i = sigmoid_of(d, lanes.load(gates));
      const auto f = sigmoid_of(d, lanes.load(gates + hidden));
      const auto g = tanh_of(d, lanes.load(gates + 2 * hidden));
      const auto o = sigmoid_of(d, lanes.load(gates + 3 * hidden));
      const auto before = lanes.load_or_zero(offset(step.c_before, at));
      const auto c = hn::MulAdd(f, before, hn::Mul(i, g));
      const auto h = hn::Mul(o, tanh_of(d, c));
      lanes.store(i, gates);
      lanes.store(f, gates + hidden);
      lanes.store(g, gates + 2 * hidden);
      lanes.store(o, gates + 3 * hidden);
      lanes.store(c, step.c + at);
      lanes.store(h, step.y + at);
      lanes.store_if(h, offset(step.copy, row * step.copy_step + unit));
    });
  }

  template <class T>
  static void backward(const BackwardCells<T>& step,
                       const RecurrentBlock& block) {
    const std::int64_t hidden = step.sizes.hidden;
    const hn::ScalableTag<T> d;
    for_cells<T>(block, [&](std::int64_t row, std::int64_t unit,
                            const auto& lanes) HWY_ATTR {
      const T* const gates = step.gates + 4 * row * hidden + unit;
      const std::int64_t at = row * hidden + unit;
      const auto i = lanes.load(gates);
      const auto f = lanes.load(gates + hidden);
      const auto g = lanes.load(gates + 2 * hidden);
      const auto o = lanes.load(gates + 3 * hidden);
      const auto dh = cotangent_of_h(step, row, unit, lanes);
      const auto tanh_c = tanh_of(d, lanes.load(step.c + at));
      auto dc = hn::Add(lanes.load(step.dc + at),
                        lanes.load_or_zero(offset(step.given_dc, at)));
      dc = hn::MulAdd(hn::Mul(dh, o), tanh_slope(d, tanh_c), dc);
      const auto before = lanes.load_or_zero(offset(step.before, at));
      const auto di = hn::Mul(hn::Mul(dc, g), sigmoid_slope(i));
      const auto df = hn::Mul(hn::Mul(dc, before), sigmoid_slope(f));
      const auto dg = hn::Mul(hn::Mul(dc, i), tanh_slope(d, g));
      const auto d_o = hn::Mul(hn::Mul(dh, tanh_c), sigmoid_slope(o));
      T* const dgates = step.dgates + 4 * row * hidden + unit;
      lanes.store(di, dgates);
      lanes.store(df, dgates + hidden);
      lanes.store(dg, dgates + 2 * hidden);
      lanes.store(d_o, dgates + 3 * hidden);
      if (T* const copy = offset(step.copy, row * step.copy_step + unit)) {
        lanes.store(di, copy);
        lanes.store(df, copy + hidden);
        lanes.store(dg, copy + 2 * hidden);
        lanes.store(d_o, copy + 3 * hidden);
      }
      lanes.store(hn::Mul(dc, f), step.dc + at);
      lanes.store(hn::Zero(d), step.dh + at);
    });
  }
};

NEAP_RECURRENT_PARTS(lstm, LstmCells)

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

NEAP_RECURRENT_DISPATCH(lstm)

struct Lstm : lstm_dispatch {
  static constexpr RecurrentForm kForm{.gates = 4, .kept = 4, .has_c = true};

  template <class T>
  static void forward(const ReferenceForward<T>& x, std::int64_t row,
                      std::int64_t unit) {
    const T i = sigmoid(x.gate(row, 0, unit));
    const T f = sigmoid(x.gate(row, 1, unit));
    const T g = std::tanh(x.gate(row, 2, unit));
    const T o = sigmoid(x.gate(row, 3, unit));
    const T c = f * x.c_before(row, unit) + i * g;
    x.keep(row, 0, unit, i);
    x.keep(row, 1, unit, f);
    x.keep(row, 2, unit, g);
    x.keep(row, 3, unit, o);
    x.set_c(row, unit, c);
    x.set_h(row, unit, o * std::tanh(c));
  }

  template <class T>
  static void backward(const ReferenceBackward<T>& x, std::int64_t row,
                       std::int64_t unit) {
    const T i = x.gate(row, 0, unit);
    const T f = x.gate(row, 1, unit);
    const T g = x.gate(row, 2, unit);
    const T o = x.gate(row, 3, unit);
    const T tanh_c = std::tanh(x.c(row, unit));
    const T dh = x.dh(row, unit);
    const T dc = x.dc(row, unit) + dh * o * (1 - tanh_c * tanh_c);
    x.set(row, 0, unit, dc * g * i * (1 - i));
    x.set(row, 1, unit, dc * x.before(row, unit) * f * (1 - f));
    x.set(row, 2, unit, dc * i * (1 - g * g));
    x.set(row, 3, unit, dh * tanh_c * o * (1 - o));
    x.carry(row, unit, T{0}, dc * f);
  }
};

}  // namespace

constinit const KernelList lstm_kernels{"lstm",
                                        kRecurrentKernels<"lstm", Lstm>};
constinit const KernelList lstm_grad_kernels{
    "lstm_grad", kRecurrentGradKernels<"lstm_grad", Lstm>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
