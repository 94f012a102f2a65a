// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/abs.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/abs.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct AbsVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Abs(x);
  }
};

PieceFunction abs_piece(DType dtype) {
  return float_piece<AbsVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(abs_piece);

struct Abs {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(abs_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else {
      return x < 0 ? static_cast<T>(-to_wrapping(x)) : x;
    }
  }
};

}  // namespace

constinit const KernelList abs_kernels{"abs", kSignedKernels<"abs", Abs, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
