// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/optim/adam.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/optim/adam.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

template <class T>
struct AdamVector {
  explicit AdamVector(const Piece& piece)
      : AdamVector(piece.attrs_as<AdamAttrs>()) {}
  explicit AdamVector(const AdamAttrs& a)
      : scale(static_cast<T>(a.maximize ? -a.grad_scale : a.grad_scale)),
        shrink(static_cast<T>(a.decoupled ? 1 - a.lr * a.weight_decay : 1)),
        weight_decay(static_cast<T>(a.decoupled ? 0 : a.weight_decay)),
        fresh1(static_cast<T>(1 - a.beta1)),
        beta2(static_cast<T>(a.beta2)),
        fresh2(static_cast<T>(1 - a.beta2)),
        root(static_cast<T>(std::sqrt(a.bias_correction2))),
        eps(static_cast<T>(a.eps)),
        rate(static_cast<T>(a.lr / a.bias_correction1)),
        is_decoupled(a.decoupled) {}

  template <class D, class V>
  HWY_INLINE void operator()(D d, V grad, V& param, V& m, V& v) const {
    V g = hn::Mul(grad, hn::Set(d, scale));
    if (is_decoupled) {
      param = hn::Mul(param, hn::Set(d, shrink));
    } else {
      g = hn::MulAdd(param, hn::Set(d, weight_decay), g);
    }
    m = hn::MulAdd(hn::Set(d, fresh1), hn::Sub(g, m), m);
    v = hn::MulAdd(hn::Set(d, beta2), v,
                   hn::Mul(hn::Set(d, fresh2), hn::Mul(g, g)));
    const V size =
        hn::Add(hn::Div(hn::Sqrt(v), hn::Set(d, root)), hn::Set(d, eps));
    param = hn::NegMulAdd(hn::Set(d, rate), hn::Div(m, size), param);
  }

  T scale;
  T shrink;  // of the parameter, by decoupled weight decay
  T weight_decay;
  T fresh1;  // weight of a new gradient in m
  T beta2;
  T fresh2;
  T root;
  T eps;
  T rate;
  bool is_decoupled;
};

PieceFunction adam_piece(DType dtype) {
  return float_update<AdamVector, 1, 3>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(adam_piece);

PieceFunction piece(const Args& args) noexcept {
  return HWY_DYNAMIC_DISPATCH(adam_piece)(args.out[0].dtype);
}

void adam(const Args& args) noexcept {
  run_elementwise(args, piece(args), OutputUse::kUpdates);
}

template <class T>
void adam_reference(const Args& args) noexcept {
  const auto& a = args.attrs_as<AdamAttrs>();
  const T rate = static_cast<T>(a.lr / a.bias_correction1);
  const T root = static_cast<T>(std::sqrt(a.bias_correction2));
  for (std::int64_t i = 0; i < args.out[0].shape.element_count(); ++i) {
    T& p = element<T>(args.out[0], i);
    T& m = element<T>(args.out[1], i);
    T& v = element<T>(args.out[2], i);
    T g = element<T>(args.in[0], i) *
          T(a.maximize ? -a.grad_scale : a.grad_scale);
    if (a.decoupled) {
      p *= T(1 - a.lr * a.weight_decay);
    } else {
      g += T(a.weight_decay) * p;
    }
    m += T(1 - a.beta1) * (g - m);
    v = T(a.beta2) * v + T(1 - a.beta2) * (g * g);
    p -= rate * (m / (std::sqrt(v) / root + T(a.eps)));
  }
}

constexpr std::array kKernels =
    float_rows<"adam">({.run = adam, .piece = piece}, {adam_reference<float>},
                       {adam_reference<double>});

}  // namespace

constinit const KernelList adam_kernels{"adam", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
