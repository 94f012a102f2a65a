// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/mish.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/mish.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/activation/activation-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// Where tanh(softplus(x)) is 1 to the last bit.
template <class D, class V>
HWY_INLINE V capped(D d, V x) {
  const V high = constant(d, sizeof(hn::TFromD<D>) == 4 ? 20.0 : 40.0);
  return hn::IfThenElse(hn::Gt(x, high), high, x);
}

// n = (1 + e^x)^2 - 1, so that tanh(ln(1 + e^x)) = n / (n + 2).
template <class D, class V>
HWY_INLINE V power(D d, V x) {
  const V e = exp_of(d, capped(d, x));
  return hn::Mul(e, hn::Add(e, constant(d, 2)));
}

}  // namespace

struct MishVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V safe = at_least(d, x, kFar<D>);
    const V n = power(d, safe);
    return hn::Mul(safe, hn::Div(n, hn::Add(n, constant(d, 2))));
  }
};

PieceFunction mish_piece(DType dtype) {
  return float_piece<MishVector, 1>(dtype);
}

struct MishGradVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    // w = n / (n + 2), dw/dx = 4 e (e + 1) / (n + 2)^2
    const V safe = within(d, x, -kFar<D>);
    const V e = exp_of(d, capped(d, safe));
    const V n = power(d, safe);
    const V below = hn::Add(n, constant(d, 2));
    const V slope =
        hn::Div(hn::Mul(hn::Mul(constant(d, 4), e), hn::Add(e, constant(d, 1))),
                hn::Mul(below, below));
    return hn::Mul(g, hn::MulAdd(safe, slope, hn::Div(n, below)));
  }
};

PieceFunction mish_grad_piece(DType dtype) {
  return float_piece<MishGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(mish_piece);

struct Mish {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(mish_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return x * std::tanh(std::log1p(std::exp(x)));
  }
};

HWY_EXPORT(mish_grad_piece);

struct MishGrad {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(mish_grad_piece)(dtype);
  }
  template <class T>
  T operator()(T g, T x) const {
    const T w = std::tanh(std::log1p(std::exp(x)));
    const T s = T(1) / (T(1) + std::exp(-x));
    return g * (w + x * (T(1) - w * w) * s);
  }
};

}  // namespace

constinit const KernelList mish_kernels{"mish", kFloatKernels<"mish", Mish, 1>};
constinit const KernelList mish_grad_kernels{
    "mish_grad", kFloatKernels<"mish_grad", MishGrad, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
