// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/tanh.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/tanh.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct TanhVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return tanh_of(d, x);
  }
};

PieceFunction tanh_piece(DType dtype) {
  return float_piece<TanhVector, 1>(dtype);
}

struct TanhGradVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    return hn::Mul(g, hn::NegMulAdd(y, y, constant(d, 1)));
  }
};

PieceFunction tanh_grad_piece(DType dtype) {
  return float_piece<TanhGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(tanh_piece);

struct Tanh {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(tanh_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::tanh(x);
  }
};

HWY_EXPORT(tanh_grad_piece);

struct TanhGrad {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(tanh_grad_piece)(dtype);
  }
  template <class T>
  T operator()(T g, T y) const {
    return g * (T(1) - y * y);
  }
};

}  // namespace

constinit const KernelList tanh_kernels{"tanh", kFloatKernels<"tanh", Tanh, 1>};
constinit const KernelList tanh_grad_kernels{
    "tanh_grad", kFloatKernels<"tanh_grad", TanhGrad, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
