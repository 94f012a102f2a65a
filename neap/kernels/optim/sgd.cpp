// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/optim/sgd.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/optim/sgd.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

template <class T>
struct Constants {
  explicit Constants(const Piece& piece)
      : Constants(piece.attrs_as<SgdAttrs>()) {}
  explicit Constants(const SgdAttrs& a)
      : lr(static_cast<T>(a.lr)),
        momentum(static_cast<T>(a.momentum)),
        fresh(static_cast<T>(1 - a.dampening)),
        weight_decay(static_cast<T>(a.weight_decay)),
        scale(static_cast<T>(a.maximize ? -a.grad_scale : a.grad_scale)),
        is_nesterov(a.nesterov),
        is_first_step(a.is_first_step) {}

  // The gradient as the step uses it.
  template <class D, class V>
  HWY_INLINE V gradient(D d, V grad, V param) const {
    const V g = hn::Mul(grad, hn::Set(d, scale));
    return hn::MulAdd(param, hn::Set(d, weight_decay), g);
  }

  T lr;
  T momentum;
  T fresh;  // weight of a new gradient in the buffer
  T weight_decay;
  T scale;
  bool is_nesterov;
  bool is_first_step;
};

template <class T>
struct PlainVector : Constants<T> {
  using Constants<T>::Constants;

  template <class D, class V>
  HWY_INLINE void operator()(D d, V grad, V& param) const {
    const V g = this->gradient(d, grad, param);
    param = hn::NegMulAdd(hn::Set(d, this->lr), g, param);
  }
};

template <class T>
struct MomentumVector : Constants<T> {
  using Constants<T>::Constants;

  template <class D, class V>
  HWY_INLINE void operator()(D d, V grad, V& param, V& buffer) const {
    const V mu = hn::Set(d, this->momentum);
    const V g = this->gradient(d, grad, param);
    const V new_part = hn::Mul(g, hn::Set(d, this->fresh));
    buffer = this->is_first_step ? g : hn::MulAdd(mu, buffer, new_part);
    const V step = this->is_nesterov ? hn::MulAdd(mu, buffer, g) : buffer;
    param = hn::NegMulAdd(hn::Set(d, this->lr), step, param);
  }
};

PieceFunction sgd_piece(DType dtype, bool has_buffer) {
  return has_buffer ? float_update<MomentumVector, 1, 2>(dtype)
                    : float_update<PlainVector, 1, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sgd_piece);

PieceFunction piece(const Args& args) noexcept {
  return HWY_DYNAMIC_DISPATCH(sgd_piece)(args.out[0].dtype,
                                         args.out.size() > 1);
}

void sgd(const Args& args) noexcept {
  run_elementwise(args, piece(args), OutputUse::kUpdates);
}

template <class T>
void sgd_reference(const Args& args) noexcept {
  const auto& a = args.attrs_as<SgdAttrs>();
  const Strided& grad = args.in[0];
  const Strided& param = args.out[0];
  const bool has_buffer = args.out.size() > 1;
  for (std::int64_t i = 0; i < param.shape.element_count(); ++i) {
    T& p = element<T>(param, i);
    T g = element<T>(grad, i) * T(a.maximize ? -a.grad_scale : a.grad_scale);
    g += T(a.weight_decay) * p;
    if (has_buffer) {
      T& buffer = element<T>(args.out[1], i);
      buffer =
          a.is_first_step ? g : T(a.momentum) * buffer + T(1 - a.dampening) * g;
      g = a.nesterov ? g + T(a.momentum) * buffer : buffer;
    }
    p -= T(a.lr) * g;
  }
}

constexpr std::array kKernels =
    float_rows<"sgd">({.run = sgd, .piece = piece}, {sgd_reference<float>},
                      {sgd_reference<double>});

}  // namespace

constinit const KernelList sgd_kernels{"sgd", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
