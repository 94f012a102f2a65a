// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/clip.hpp"

#include <limits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/clip.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct ClipVector {
  using Attrs = ClipAttrs;
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V low = constant(d, attrs.low);
    const V high = constant(d, attrs.high);
    const V raised = hn::IfThenElse(hn::Lt(x, low), low, x);
    return hn::IfThenElse(hn::Gt(raised, high), high, raised);
  }
  Attrs attrs;
};

PieceFunction clip_piece(DType dtype) {
  return float_piece<ClipVector, 1>(dtype);
}

struct ClipGradVector {
  using Attrs = ClipAttrs;
  static constexpr bool kIsLight = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    const V low = constant(d, attrs.low);
    const V high = constant(d, attrs.high);
    const auto raised = has_bound(attrs.low) ? hn::Gt(x, low) : hn::Ge(x, low);
    const auto lowered =
        has_bound(attrs.high) ? hn::Lt(x, high) : hn::Le(x, high);
    return hn::IfThenElseZero(hn::And(raised, lowered), g);
  }
  Attrs attrs;
};

PieceFunction clip_grad_piece(DType dtype) {
  return float_piece<ClipGradVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(clip_piece);

// A bound as a number of type T; integers stop at the ends of their range.
template <class T>
T bound(double value) {
  if constexpr (std::is_integral_v<T>) {
    constexpr T kLowest = std::numeric_limits<T>::lowest();
    constexpr T kLargest = std::numeric_limits<T>::max();
    if (!(value > static_cast<double>(kLowest))) {
      return kLowest;
    }
    return value < static_cast<double>(kLargest) ? static_cast<T>(value)
                                                 : kLargest;
  } else {
    return static_cast<T>(value);
  }
}

struct Clip {
  using Attrs = ClipAttrs;
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(clip_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    const T low = bound<T>(attrs.low);
    const T high = bound<T>(attrs.high);
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
  Attrs attrs;
};

HWY_EXPORT(clip_grad_piece);

struct ClipGrad {
  using Attrs = ClipAttrs;
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(clip_grad_piece)(dtype);
  }
  template <class T>
  T operator()(T g, T x) const {
    const T low = bound<T>(attrs.low);
    const T high = bound<T>(attrs.high);
    const bool is_above = has_bound(attrs.low) ? x > low : x >= low;
    const bool is_below = has_bound(attrs.high) ? x < high : x <= high;
    return is_above && is_below ? g : T(0);
  }
  Attrs attrs;
};

}  // namespace

constinit const KernelList clip_kernels{"clip",
                                        kSignedKernels<"clip", Clip, 1>};
constinit const KernelList clip_grad_kernels{
    "clip_grad", kFloatKernels<"clip_grad", ClipGrad, 2>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
