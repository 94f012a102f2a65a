// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/sign.hpp"

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/sign.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct SignVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = constant(d, 1);
    const V zero = hn::Zero(d);
    const V below =
        hn::IfThenElse(hn::Lt(x, zero), hn::Neg(one), hn::Add(x, zero));
    return hn::IfThenElse(hn::Gt(x, zero), one, below);
  }
};

PieceFunction sign_piece(DType dtype) {
  return float_piece<SignVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sign_piece);

struct Sign {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(sign_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    if (x > T(0)) {
      return T(1);
    }
    if (x < T(0)) {
      return T(-1);
    }
    return x == T(0) ? T(0) : x;
  }
};

}  // namespace

constinit const KernelList sign_kernels{"sign",
                                        kSignedKernels<"sign", Sign, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
