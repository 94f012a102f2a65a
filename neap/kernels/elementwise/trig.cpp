// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/trig.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/trig.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise/trig-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SinVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return sin_of(d, x);
  }
};

PieceFunction sin_piece(DType dtype) {
  return float_piece<SinVector, 1>(dtype);
}

struct CosVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return cos_of(d, x);
  }
};

PieceFunction cos_piece(DType dtype) {
  return float_piece<CosVector, 1>(dtype);
}

struct TanVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return tan_of(d, x);
  }
};

PieceFunction tan_piece(DType dtype) {
  return float_piece<TanVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sin_piece);

struct Sin {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(sin_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::sin(x);
  }
};

HWY_EXPORT(cos_piece);

struct Cos {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(cos_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::cos(x);
  }
};

HWY_EXPORT(tan_piece);

struct Tan {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(tan_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::tan(x);
  }
};

}  // namespace

constinit const KernelList sin_kernels{"sin", kFloatKernels<"sin", Sin, 1>};
constinit const KernelList cos_kernels{"cos", kFloatKernels<"cos", Cos, 1>};
constinit const KernelList tan_kernels{"tan", kFloatKernels<"tan", Tan, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
