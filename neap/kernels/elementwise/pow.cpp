// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/pow.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/pow.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise/pow-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct PowVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return pow_of(d, a, b);
  }
};

PieceFunction pow_piece(DType dtype) {
  return float_piece<PowVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(pow_piece);

struct Pow {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(pow_piece)(dtype);
  }
  template <class T>
  T operator()(T a, T b) const {
    return std::pow(a, b);
  }
};

}  // namespace

constinit const KernelList pow_kernels{"pow", kFloatKernels<"pow", Pow, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
