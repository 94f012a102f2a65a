// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/maximum.hpp"

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/maximum.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

template <bool kIsMax>
struct ExtremeVector {
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    const auto wins = kIsMax ? hn::Gt(a, b) : hn::Lt(a, b);
    return hn::IfThenElse(hn::Or(wins, hn::IsNaN(a)), a, b);
  }
};

PieceFunction maximum_piece(DType dtype) {
  return float_piece<ExtremeVector<true>, 2>(dtype);
}

PieceFunction minimum_piece(DType dtype) {
  return float_piece<ExtremeVector<false>, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(maximum_piece);
HWY_EXPORT(minimum_piece);

template <bool kIsMax>
struct Extreme {
  static PieceFunction piece(DType dtype) {
    return kIsMax ? HWY_DYNAMIC_DISPATCH(maximum_piece)(dtype)
                  : HWY_DYNAMIC_DISPATCH(minimum_piece)(dtype);
  }
  template <class T>
  T operator()(T a, T b) const {
    const bool wins = kIsMax ? a > b : a < b;
    return wins || a != a ? a : b;
  }
};

}  // namespace

constinit const KernelList maximum_kernels{
    "maximum", kSignedKernels<"maximum", Extreme<true>, 2>};
constinit const KernelList minimum_kernels{
    "minimum", kSignedKernels<"minimum", Extreme<false>, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
