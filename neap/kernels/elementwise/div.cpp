// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/div.hpp"

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/div.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct DivVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Div(a, b);
  }
};

PieceFunction div_piece(DType dtype) {
  return float_piece<DivVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(div_piece);

struct Div {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(div_piece)(dtype);
  }
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};

}  // namespace

constinit const KernelList div_kernels{"div", kFloatKernels<"div", Div, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
