// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/mul.hpp"

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/mul.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct MulVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

PieceFunction mul_piece(DType dtype) {
  return float_piece<MulVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(mul_piece);

struct Mul {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(mul_piece)(dtype);
  }
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(to_wrapping(a) * to_wrapping(b));
  }
};

}  // namespace

constinit const KernelList mul_kernels{"mul", kSignedKernels<"mul", Mul, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
