// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/rnn.hpp"

#include <array>

#include "neap/kernels/recurrent_reference.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/rnn.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/recurrent-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

template <class T>
void rnn_forward(const ForwardStep<T>& step, const RecurrentBlock& block) {
  const std::int64_t hidden = step.sizes.hidden;
  if (step.depth != 0) {
    StepProduct<T> product = forward_product(step, 0);
    product.c = step.y;
    product.c_step = hidden;
    product.start = step.y;
    product.start_step = hidden;
    multiply(product, hidden, block);
  }
  const hn::ScalableTag<T> d;
  for_cells<T>(block, [&](std::int64_t row, std::int64_t unit,
                          const auto& lanes) HWY_ATTR {
    T* const y = step.y + row * hidden + unit;
    const auto sum = lanes.load(y);
    const auto h = step.is_relu
                       ? hn::IfThenZeroElse(hn::Le(sum, hn::Zero(d)), sum)
                       : tanh_of(d, sum);
    lanes.store(h, y);
    lanes.store(h, step.next_h + row * step.h_step + unit);
  });
}

template <class T>
void rnn_backward(const BackwardStep<T>& step, const RecurrentBlock& block) {
  add_product(step, block);
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
    lanes.store(ds, step.next_after + row * step.after_step + unit);
    lanes.store(hn::Zero(d), step.dh + at);
  });
}

template <class T>
RecurrentParts<T> rnn_parts() {
  return {.panel = kPanelUnits<T>,
          .pack = pack_forward<T>,
          .pack_back = pack_backward<T>,
          .forward = rnn_forward<T>,
          .backward = rnn_backward<T>,
          .product = add_product<T>};
}

RecurrentParts<float> rnn_parts_f32() {
  return rnn_parts<float>();
}
RecurrentParts<double> rnn_parts_f64() {
  return rnn_parts<double>();
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(rnn_parts_f32);
HWY_EXPORT(rnn_parts_f64);

struct Rnn {
  static constexpr RecurrentForm kForm{};

  template <class T>
  static RecurrentParts<T> parts() {
    if constexpr (sizeof(T) == 4) {
      return HWY_DYNAMIC_DISPATCH(rnn_parts_f32)();
    } else {
      return HWY_DYNAMIC_DISPATCH(rnn_parts_f64)();
    }
  }

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
