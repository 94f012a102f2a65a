// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/log_sigmoid.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/log_sigmoid.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/activation/activation-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct LogSigmoidVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Neg(softplus_of(d, hn::Neg(x)));
  }
};

PieceFunction log_sigmoid_piece(DType dtype) {
  return float_piece<LogSigmoidVector, 1>(dtype);
}

struct LogSigmoidGradVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    return hn::Neg(hn::Mul(g, expm1_of(d, y)));
  }
};

PieceFunction log_sigmoid_grad_piece(DType dtype) {
  return float_piece<LogSigmoidGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(log_sigmoid_piece);

struct LogSigmoid {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(log_sigmoid_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
  }
};

HWY_EXPORT(log_sigmoid_grad_piece);

struct LogSigmoidGrad {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(log_sigmoid_grad_piece)(dtype);
  }
  template <class T>
  T operator()(T g, T y) const {
    return -(g * std::expm1(y));
  }
};

}  // namespace

constinit const KernelList log_sigmoid_kernels{
    "log_sigmoid", kFloatKernels<"log_sigmoid", LogSigmoid, 1>};
constinit const KernelList log_sigmoid_grad_kernels{
    "log_sigmoid_grad", kFloatKernels<"log_sigmoid_grad", LogSigmoidGrad, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
