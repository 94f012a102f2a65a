// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/minimum.hpp"

#include "neap/kernels/float_kernels.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/minimum.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct MinimumVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  }
};

PieceFunction minimum_piece(DType dtype) {
  return float_piece<MinimumVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(minimum_piece);

struct Minimum {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(minimum_piece)(dtype);
  }
  template <class T>
  T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

}  // namespace

constinit const KernelList minimum_kernels{
    "minimum", kSignedKernels<"minimum", Minimum, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
