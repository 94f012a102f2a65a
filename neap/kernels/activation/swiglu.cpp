// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/swiglu.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/swiglu.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/activation/activation-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SwigluVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V safe = at_least(d, a, kFar<D>);
    return hn::Mul(hn::Mul(safe, sigmoid_of(d, safe)), b);
  }
};

PieceFunction swiglu_piece(DType dtype) {
  return float_piece<SwigluVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(swiglu_piece);

struct Swiglu {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(swiglu_piece)(dtype);
  }
  template <class T>
  T operator()(T a, T b) const {
    return a / (T(1) + std::exp(-a)) * b;
  }
};

}  // namespace

constinit const KernelList swiglu_kernels{"swiglu",
                                          kFloatKernels<"swiglu", Swiglu, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
