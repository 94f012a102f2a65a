// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/square.hpp"

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/square.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SquareVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Mul(x, x);
  }
};

PieceFunction square_piece(DType dtype) {
  return float_piece<SquareVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(square_piece);

struct Square {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(square_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(to_wrapping(x) * to_wrapping(x));
  }
};

}  // namespace

constinit const KernelList square_kernels{"square",
                                          kSignedKernels<"square", Square, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
