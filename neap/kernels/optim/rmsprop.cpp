// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/optim/rmsprop.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/optim/rmsprop.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

template <class T>
struct RmspropConstants {
  explicit RmspropConstants(const Piece& piece)
      : RmspropConstants(piece.attrs_as<RmspropAttrs>()) {}
  explicit RmspropConstants(const RmspropAttrs& a)
      : lr(static_cast<T>(a.lr)),
        alpha(static_cast<T>(a.alpha)),
        fresh(static_cast<T>(1 - a.alpha)),
        eps(static_cast<T>(a.eps)),
        momentum(static_cast<T>(a.momentum)),
        weight_decay(static_cast<T>(a.weight_decay)),
        scale(static_cast<T>(a.maximize ? -a.grad_scale : a.grad_scale)) {}

  // The gradient as the step uses it.
  template <class D, class V>
  HWY_INLINE V gradient(D d, V grad, V param) const {
    const V g = hn::Mul(grad, hn::Set(d, scale));
    return hn::MulAdd(param, hn::Set(d, weight_decay), g);
  }
  template <class D, class V>
  HWY_INLINE V mean_of_squares(D d, V g, V v) const {
    return hn::MulAdd(hn::Set(d, alpha), v,
                      hn::Mul(hn::Set(d, fresh), hn::Mul(g, g)));
  }
  // g / (sqrt(v) + eps)
  template <class D, class V>
  HWY_INLINE V sized(D d, V g, V v) const {
    return hn::Div(g, hn::Add(hn::Sqrt(v), hn::Set(d, eps)));
  }
  template <class D, class V>
  HWY_INLINE V moved(D d, V param, V step) const {
    return hn::NegMulAdd(hn::Set(d, lr), step, param);
  }

  T lr;
  T alpha;
  T fresh;  // weight of a new gradient in v
  T eps;
  T momentum;
  T weight_decay;
  T scale;
};

template <class T>
struct RmspropVector : RmspropConstants<T> {
  using RmspropConstants<T>::RmspropConstants;

  template <class D, class V>
  HWY_INLINE void operator()(D d, V grad, V& param, V& v) const {
    const V g = this->gradient(d, grad, param);
    v = this->mean_of_squares(d, g, v);
    param = this->moved(d, param, this->sized(d, g, v));
  }
};

template <class T>
struct RmspropMomentumVector : RmspropConstants<T> {
  using RmspropConstants<T>::RmspropConstants;

  template <class D, class V>
  HWY_INLINE void operator()(D d, V grad, V& param, V& v, V& buffer) const {
    const V g = this->gradient(d, grad, param);
    v = this->mean_of_squares(d, g, v);
    buffer =
        hn::MulAdd(hn::Set(d, this->momentum), buffer, this->sized(d, g, v));
    param = this->moved(d, param, buffer);
  }
};

PieceFunction rmsprop_piece(DType dtype, bool has_buffer) {
  return has_buffer ? float_update<RmspropMomentumVector, 1, 3>(dtype)
                    : float_update<RmspropVector, 1, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(rmsprop_piece);

PieceFunction piece(const Args& args) noexcept {
  return HWY_DYNAMIC_DISPATCH(rmsprop_piece)(args.out[0].dtype,
                                             args.out.size() > 2);
}

void rmsprop(const Args& args) noexcept {
  run_elementwise(args, piece(args), OutputUse::kUpdates);
}

template <class T>
void rmsprop_reference(const Args& args) noexcept {
  const auto& a = args.attrs_as<RmspropAttrs>();
  const bool has_buffer = args.out.size() > 2;
  for (std::int64_t i = 0; i < args.out[0].shape.element_count(); ++i) {
    T& p = element<T>(args.out[0], i);
    T& v = element<T>(args.out[1], i);
    const T g = element<T>(args.in[0], i) *
                    T(a.maximize ? -a.grad_scale : a.grad_scale) +
                T(a.weight_decay) * p;
    v = T(a.alpha) * v + T(1 - a.alpha) * (g * g);
    T step = g / (std::sqrt(v) + T(a.eps));
    if (has_buffer) {
      T& buffer = element<T>(args.out[2], i);
      buffer = T(a.momentum) * buffer + step;
      step = buffer;
    }
    p -= T(a.lr) * step;
  }
}

constexpr std::array kKernels = float_rows<"rmsprop">(
    {.run = rmsprop, .piece = piece}, {rmsprop_reference<float>},
    {rmsprop_reference<double>});

}  // namespace

constinit const KernelList rmsprop_kernels{"rmsprop", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
