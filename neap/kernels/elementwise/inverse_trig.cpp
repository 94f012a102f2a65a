// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/inverse_trig.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/inverse_trig.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise/trig-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct AsinVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return asin_of(d, x);
  }
};

PieceFunction asin_piece(DType dtype) {
  return float_piece<AsinVector, 1>(dtype);
}

struct AcosVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return acos_of(d, x);
  }
};

PieceFunction acos_piece(DType dtype) {
  return float_piece<AcosVector, 1>(dtype);
}

struct AtanVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return atan_of(d, x);
  }
};

PieceFunction atan_piece(DType dtype) {
  return float_piece<AtanVector, 1>(dtype);
}

struct Atan2Vector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return atan2_of(d, a, b);
  }
};

PieceFunction atan2_piece(DType dtype) {
  return float_piece<Atan2Vector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(asin_piece);

struct Asin {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(asin_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::asin(x);
  }
};

HWY_EXPORT(acos_piece);

struct Acos {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(acos_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::acos(x);
  }
};

HWY_EXPORT(atan_piece);

struct Atan {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(atan_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::atan(x);
  }
};

HWY_EXPORT(atan2_piece);

struct Atan2 {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(atan2_piece)(dtype);
  }
  template <class T>
  T operator()(T a, T b) const {
    return std::atan2(a, b);
  }
};

}  // namespace

constinit const KernelList asin_kernels{"asin", kFloatKernels<"asin", Asin, 1>};
constinit const KernelList acos_kernels{"acos", kFloatKernels<"acos", Acos, 1>};
constinit const KernelList atan_kernels{"atan", kFloatKernels<"atan", Atan, 1>};
constinit const KernelList atan2_kernels{"atan2",
                                         kFloatKernels<"atan2", Atan2, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
