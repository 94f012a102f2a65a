// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/reciprocal.hpp"

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/reciprocal.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct ReciprocalVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(constant(d, 1), x);
  }
};

PieceFunction reciprocal_piece(DType dtype) {
  return float_piece<ReciprocalVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(reciprocal_piece);

struct Reciprocal {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(reciprocal_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return T(1) / x;
  }
};

}  // namespace

constinit const KernelList reciprocal_kernels{
    "reciprocal", kFloatKernels<"reciprocal", Reciprocal, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
