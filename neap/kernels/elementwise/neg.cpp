// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/neg.hpp"

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/neg.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct NegVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Neg(x);
  }
};

PieceFunction neg_piece(DType dtype) {
  return float_piece<NegVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(neg_piece);

struct Neg {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(neg_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(-to_wrapping(x));
  }
};

}  // namespace

constinit const KernelList neg_kernels{"neg", kSignedKernels<"neg", Neg, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
