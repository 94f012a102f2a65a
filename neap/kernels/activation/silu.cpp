// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/silu.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/silu.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/activation/activation-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SiluVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V safe = at_least(d, x, kFar<D>);
    return hn::Mul(safe, sigmoid_of(d, safe));
  }
};

PieceFunction silu_piece(DType dtype) {
  return float_piece<SiluVector, 1>(dtype);
}

struct SiluGradVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    const V safe = within(d, x, -kFar<D>);
    const V one = constant(d, 1);
    const V s = sigmoid_of(d, safe);
    return hn::Mul(hn::Mul(g, s), hn::MulAdd(safe, hn::Sub(one, s), one));
  }
};

PieceFunction silu_grad_piece(DType dtype) {
  return float_piece<SiluGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(silu_piece);

struct Silu {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(silu_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return x / (T(1) + std::exp(-x));
  }
};

HWY_EXPORT(silu_grad_piece);

struct SiluGrad {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(silu_grad_piece)(dtype);
  }
  template <class T>
  T operator()(T g, T x) const {
    const T s = T(1) / (T(1) + std::exp(-x));
    return g * s * (T(1) + x * (T(1) - s));
  }
};

}  // namespace

constinit const KernelList silu_kernels{"silu", kFloatKernels<"silu", Silu, 1>};
constinit const KernelList silu_grad_kernels{
    "silu_grad", kFloatKernels<"silu_grad", SiluGrad, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
