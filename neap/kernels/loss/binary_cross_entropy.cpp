// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/loss/binary_cross_entropy.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/loss/binary_cross_entropy.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/activation/activation-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct BinaryCrossEntropyVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V t) const {
    const V one = constant(d, 1);
    const V likely = at_least(d, log_of(d, x), -100);
    const V unlikely = at_least(d, log1p_of(d, hn::Neg(x)), -100);
    return hn::Neg(hn::MulAdd(t, likely, hn::Mul(hn::Sub(one, t), unlikely)));
  }
};

PieceFunction binary_cross_entropy_piece(DType dtype) {
  return float_piece<BinaryCrossEntropyVector, 2>(dtype);
}

struct LogitsCrossEntropyVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V z, V t) const {
    const V tail = log1p_of(d, exp_of(d, hn::Neg(hn::Abs(z))));
    const V zero = hn::Zero(d);
    const V larger = hn::IfThenZeroElse(hn::Lt(z, zero), z);
    return hn::Add(hn::NegMulAdd(z, t, larger), tail);
  }
};

PieceFunction logits_cross_entropy_piece(DType dtype) {
  return float_piece<LogitsCrossEntropyVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

// No less than -100; NaN stays.
template <class T>
T floored(T x) {
  return x < T(-100) ? T(-100) : x;
}

HWY_EXPORT(binary_cross_entropy_piece);

struct BinaryCrossEntropy {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(binary_cross_entropy_piece)(dtype);
  }
  template <class T>
  T operator()(T x, T t) const {
    const T likely = floored(std::log(x));
    const T unlikely = floored(std::log1p(-x));
    return -(t * likely + (T(1) - t) * unlikely);
  }
};

HWY_EXPORT(logits_cross_entropy_piece);

struct LogitsCrossEntropy {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(logits_cross_entropy_piece)(dtype);
  }
  template <class T>
  T operator()(T z, T t) const {
    const T tail = std::log1p(std::exp(z < T(0) ? z : -z));
    return ((z < T(0) ? T(0) : z) - z * t) + tail;
  }
};

}  // namespace

constinit const KernelList binary_cross_entropy_kernels{
    "binary_cross_entropy",
    kFloatKernels<"binary_cross_entropy", BinaryCrossEntropy, 2>};
constinit const KernelList logits_cross_entropy_kernels{
    "logits_cross_entropy",
    kFloatKernels<"logits_cross_entropy", LogitsCrossEntropy, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
