// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/maximum.hpp"

#include "neap/kernels/float_kernels.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/maximum.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct MaximumVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
};

PieceFunction maximum_piece(DType dtype) {
  return float_piece<MaximumVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(maximum_piece);

struct Maximum {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(maximum_piece)(dtype);
  }
  template <class T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

}  // namespace

constinit const KernelList maximum_kernels{
    "maximum", kSignedKernels<"maximum", Maximum, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
