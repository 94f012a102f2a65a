// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/optim/lion.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/optim/lion.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

template <class T>
struct LionVector {
  explicit LionVector(const Piece& piece)
      : LionVector(piece.attrs_as<LionAttrs>()) {}
  explicit LionVector(const LionAttrs& a)
      : scale(static_cast<T>(a.maximize ? -a.grad_scale : a.grad_scale)),
        shrink(static_cast<T>(1 - a.lr * a.weight_decay)),
        fresh1(static_cast<T>(1 - a.beta1)),
        fresh2(static_cast<T>(1 - a.beta2)),
        lr(static_cast<T>(a.lr)) {}

  template <class D, class V>
  HWY_INLINE void operator()(D d, V grad, V& param, V& m) const {
    const V g = hn::Mul(grad, hn::Set(d, scale));
    const V change = hn::Sub(g, m);
    const V c = hn::MulAdd(hn::Set(d, fresh1), change, m);
    const V one = hn::CopySign(hn::Set(d, T{1}), c);
    // A zero and a NaN stay: a NaN must not become a step of 1.
    const auto has_sign = hn::Gt(hn::Abs(c), hn::Zero(d));
    const V sign = hn::IfThenElse(has_sign, one, c);
    param =
        hn::NegMulAdd(hn::Set(d, lr), sign, hn::Mul(param, hn::Set(d, shrink)));
    m = hn::MulAdd(hn::Set(d, fresh2), change, m);
  }

  T scale;
  T shrink;  // of the parameter, by its decay
  T fresh1;  // weight of a new gradient in the direction
  T fresh2;  // and in m
  T lr;
};

PieceFunction lion_piece(DType dtype) {
  return float_update<LionVector, 1, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(lion_piece);

PieceFunction piece(const Args& args) noexcept {
  return HWY_DYNAMIC_DISPATCH(lion_piece)(args.out[0].dtype);
}

void lion(const Args& args) noexcept {
  run_elementwise(args, piece(args), OutputUse::kUpdates);
}

template <class T>
void lion_reference(const Args& args) noexcept {
  const auto& a = args.attrs_as<LionAttrs>();
  for (std::int64_t i = 0; i < args.out[0].shape.element_count(); ++i) {
    T& p = element<T>(args.out[0], i);
    T& m = element<T>(args.out[1], i);
    const T g = element<T>(args.in[0], i) *
                T(a.maximize ? -a.grad_scale : a.grad_scale);
    const T c = m + T(1 - a.beta1) * (g - m);
    const T sign = std::abs(c) > T{0} ? std::copysign(T{1}, c) : c;
    p = T(1 - a.lr * a.weight_decay) * p - T(a.lr) * sign;
    m += T(1 - a.beta2) * (g - m);
  }
}

constexpr std::array kKernels =
    float_rows<"lion">({.run = lion, .piece = piece}, {lion_reference<float>},
                       {lion_reference<double>});

}  // namespace

constinit const KernelList lion_kernels{"lion", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
