// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/sigmoid.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/sigmoid.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SigmoidVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return sigmoid_of(d, x);
  }
};

PieceFunction sigmoid_piece(DType dtype) {
  return float_piece<SigmoidVector, 1>(dtype);
}

struct SigmoidGradVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    return hn::Mul(hn::Mul(g, y), hn::Sub(constant(d, 1), y));
  }
};

PieceFunction sigmoid_grad_piece(DType dtype) {
  return float_piece<SigmoidGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sigmoid_piece);

struct Sigmoid {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(sigmoid_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};

HWY_EXPORT(sigmoid_grad_piece);

struct SigmoidGrad {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(sigmoid_grad_piece)(dtype);
  }
  template <class T>
  T operator()(T g, T y) const {
    return g * y * (T(1) - y);
  }
};

}  // namespace

constinit const KernelList sigmoid_kernels{
    "sigmoid", kFloatKernels<"sigmoid", Sigmoid, 1>};
constinit const KernelList sigmoid_grad_kernels{
    "sigmoid_grad", kFloatKernels<"sigmoid_grad", SigmoidGrad, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
