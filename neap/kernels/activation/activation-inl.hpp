// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the activations: the ends of their ranges, where x times a number
// that is 0 there would be infinity times 0, and ln(1 + e^x).
#if defined(NEAP_KERNELS_ACTIVATION_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_ACTIVATION_INL_HPP_
#undef NEAP_KERNELS_ACTIVATION_INL_HPP_
#else
#define NEAP_KERNELS_ACTIVATION_INL_HPP_
#endif

#include "hwy/highway.h"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Below it e^x is 0.
template <class D>
inline constexpr double kFar = sizeof(hn::TFromD<D>) == 4 ? -110.0 : -760.0;

/// x, but no less than `low`; NaN stays.
template <class D, class V>
HWY_INLINE V at_least(D d, V x, double low) {
  const V bound = constant(d, low);
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
}

/// x, but no further from 0 than `far`; NaN stays.
template <class D, class V>
HWY_INLINE V within(D d, V x, double far) {
  const V bound = constant(d, far);
  return hn::IfThenElse(hn::Gt(x, bound), bound, at_least(d, x, -far));
}

/// ln(1 + e^x), without overflow and with its small values.
template <class D, class V>
HWY_INLINE V softplus_of(D d, V x) {
  const V tail = log1p_of(d, exp_of(d, hn::Neg(hn::Abs(x))));
  return hn::Add(hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x), tail);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
