// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/sqrt.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/sqrt.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SqrtVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Sqrt(x);
  }
};

PieceFunction sqrt_piece(DType dtype) {
  return float_piece<SqrtVector, 1>(dtype);
}

struct RsqrtVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(constant(d, 1), hn::Sqrt(x));
  }
};

PieceFunction rsqrt_piece(DType dtype) {
  return float_piece<RsqrtVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sqrt_piece);

struct Sqrt {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(sqrt_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};

HWY_EXPORT(rsqrt_piece);

struct Rsqrt {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(rsqrt_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};

}  // namespace

constinit const KernelList sqrt_kernels{"sqrt", kFloatKernels<"sqrt", Sqrt, 1>};
constinit const KernelList rsqrt_kernels{"rsqrt",
                                         kFloatKernels<"rsqrt", Rsqrt, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
