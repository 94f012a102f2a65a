// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sequence/rnn.hpp"

#include <array>

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/sequence/recurrent_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/sequence/rnn.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/sequence/recurrent-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct RnnCells {
  template <class MicroKernels>
  static void products(const ForwardStepOf<MicroKernels>& step,
                       const RecurrentBlock& block) {
    if (step.depth != 0) {
      add_to_gate<MicroKernels>(step, 0, step.y, step.sizes.hidden, block);
    }
  }

  template <class T>
  static void forward(const ForwardCells<T>& step,
                      const RecurrentBlock& block) {
    const std::int64_t hidden = step.sizes.hidden;
    const hn::ScalableTag<T> d;
    for_cells<T>(block, [&](std::int64_t row, std::int64_t unit,
                            const auto& lanes) HWY_ATTR {
      T* const y = step.y + row * hidden + unit;
      const auto sum = lanes.load(y);
      const auto h = step.is_relu
                         ? hn::IfThenZeroElse(hn::Le(sum, hn::Zero(d)), sum)
                         : tanh_of(d, sum);
      lanes.store(h, y);
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
      const std::int64_t at = row * hidden + unit;
      const auto y = lanes.load(step.gates + at);
      const auto dh = cotangent_of_h(step, row, unit, lanes);
      const auto ds = step.is_relu
                          ? hn::IfThenZeroElse(hn::Le(y, hn::Zero(d)), dh)
                          : hn::Mul(dh, tanh_slope(d, y));
      lanes.store(ds, step.dgates + at);
      lanes.store_if(ds, offset(step.copy, row * step.copy_step + unit));
      lanes.store(hn::Zero(d), step.dh + at);
    });
  }
};

NEAP_RECURRENT_PARTS(rnn, RnnCells)

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

NEAP_RECURRENT_DISPATCH(rnn)

struct Rnn : rnn_dispatch {
  static constexpr RecurrentForm kForm{};

  template <class T>
  static void forward(const ReferenceForward<T>& x, std::int64_t row,
                      std::int64_t unit) {
    const T sum = x.gate(row, 0, unit);
    x.set_h(row, unit, !x.is_relu() ? std::tanh(sum) : sum <= 0 ? T{0} : sum);
  }

  template <class T>
  static void backward(const ReferenceBackward<T>& x, std::int64_t row,
                       std::int64_t unit) {
    const T y = x.gate(row, 0, unit);
    const T dh = x.dh(row, unit);
    x.set(row, 0, unit, !x.is_relu() ? dh * (1 - y * y) : y <= 0 ? T{0} : dh);
    x.carry(row, unit, T{0}, T{0});
  }
};

}  // namespace

constinit const KernelList rnn_kernels{"rnn", kRecurrentKernels<"rnn", Rnn>};
constinit const KernelList rnn_grad_kernels{
    "rnn_grad", kRecurrentGradKernels<"rnn_grad", Rnn>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
