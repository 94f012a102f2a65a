// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sequence/gru.hpp"

#include <array>

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/sequence/recurrent_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sequence/gru.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/sequence/recurrent-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct GruCells {
  // The products with the weights' gates r, z and n become the kept columns 1,
  // 2 and 0.
  template <class MicroKernels>
  static void products(const ForwardStepOf<MicroKernels>& step,
                       const RecurrentBlock& block) {
    const std::int64_t hidden = step.sizes.hidden;
    for (std::int64_t gate = 0; gate < 3; ++gate) {
      StepProduct<MicroKernels> product =
          forward_product<MicroKernels>(step, gate);
      product.c = step.gates + (gate + 1) % 3 * hidden;
      product.c_step = 4 * hidden;
      if (gate == 2) {
        product.start = step.bias;
      } else {
        product.start = step.pre + gate * hidden;
        product.start_step = 3 * hidden;
      }
      multiply(product, hidden, block);
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
      const T* const pre_n = step.pre + (3 * row + 2) * hidden + unit;
      const auto r = sigmoid_of(d, lanes.load(gates + hidden));
      const auto z = sigmoid_of(d, lanes.load(gates + 2 * hidden));
      const auto n =
          tanh_of(d, hn::MulAdd(r, lanes.load(gates), lanes.load(pre_n)));
      const auto h =
          lanes.load_or_zero(offset(step.h_before, row * hidden + unit));
      const auto y = hn::MulAdd(z, hn::Sub(h, n), n);
      lanes.store(r, gates + hidden);
      lanes.store(z, gates + 2 * hidden);
      lanes.store(n, gates + 3 * hidden);
      lanes.store(y, step.y + row * hidden + unit);
      lanes.store_if(y, offset(step.copy, row * step.copy_step + unit));
    });
  }

  template <class T>
  static void backward(const BackwardCells<T>& step,
                       const RecurrentBlock& block) {
    const std::int64_t hidden = step.sizes.hidden;
    const hn::ScalableTag<T> d;
    const auto one = hn::Set(d, T(1));
    for_cells<T>(block, [&](std::int64_t row, std::int64_t unit,
                            const auto& lanes) HWY_ATTR {
      const T* const gates = step.gates + 4 * row * hidden + unit;
      const std::int64_t at = row * hidden + unit;
      const auto from_h = lanes.load(gates);
      const auto r = lanes.load(gates + hidden);
      const auto z = lanes.load(gates + 2 * hidden);
      const auto n = lanes.load(gates + 3 * hidden);
      const auto before = lanes.load_or_zero(offset(step.before, at));
      const auto dh = cotangent_of_h(step, row, unit, lanes);
      const auto dn = hn::Mul(hn::Mul(dh, hn::Sub(one, z)), tanh_slope(d, n));
      const auto dz =
          hn::Mul(hn::Mul(dh, hn::Sub(before, n)), sigmoid_slope(z));
      const auto dr = hn::Mul(hn::Mul(dn, from_h), sigmoid_slope(r));
      const auto dn_h = hn::Mul(dn, r);
      T* const dgates = step.dgates + 4 * row * hidden + unit;
      lanes.store(dn_h, dgates);
      lanes.store(dr, dgates + hidden);
      lanes.store(dz, dgates + 2 * hidden);
      lanes.store(dn, dgates + 3 * hidden);
      if (T* const copy = offset(step.copy, row * step.copy_step + unit)) {
        lanes.store(dn_h, copy);
        lanes.store(dr, copy + hidden);
        lanes.store(dz, copy + 2 * hidden);
      }
      lanes.store(hn::Mul(dh, z), step.dh + at);
    });
  }
};

NEAP_RECURRENT_PARTS(gru, GruCells)

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

NEAP_RECURRENT_DISPATCH(gru)

struct Gru : gru_dispatch {
  static constexpr RecurrentForm kForm{
      .gates = 3, .kept = 4, .bias_start = 1, .is_made_in_place = false};

  template <class T>
  static void forward(const ReferenceForward<T>& x, std::int64_t row,
                      std::int64_t unit) {
    const T r = sigmoid(x.gate(row, 0, unit));
    const T z = sigmoid(x.gate(row, 1, unit));
    const T from_h = x.h_part(x.bias(0, unit), row, 2, unit);
    const T n = std::tanh(x.x_part(row, 2, unit) + r * from_h);
    x.keep(row, 0, unit, from_h);
    x.keep(row, 1, unit, r);
    x.keep(row, 2, unit, z);
    x.keep(row, 3, unit, n);
    x.set_h(row, unit, (1 - z) * n + z * x.h_before(row, unit));
  }

  template <class T>
  static void backward(const ReferenceBackward<T>& x, std::int64_t row,
                       std::int64_t unit) {
    const T r = x.gate(row, 1, unit);
    const T z = x.gate(row, 2, unit);
    const T n = x.gate(row, 3, unit);
    const T dh = x.dh(row, unit);
    const T dn = dh * (1 - z) * (1 - n * n);
    const T dr = dn * x.gate(row, 0, unit) * r * (1 - r);
    x.set(row, 0, unit, dn * r);
    x.set(row, 1, unit, dr);
    x.set(row, 2, unit, dh * (x.before(row, unit) - n) * z * (1 - z));
    x.set(row, 3, unit, dn);
    x.carry(row, unit, dh * z, T{0});
  }
};

}  // namespace

constinit const KernelList gru_kernels{"gru", kRecurrentKernels<"gru", Gru>};
constinit const KernelList gru_grad_kernels{
    "gru_grad", kRecurrentGradKernels<"gru_grad", Gru>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
