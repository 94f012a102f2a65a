// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Transcendental functions on vectors of f32 or f64, good for every input:
// Highway's, with the ends of their ranges, infinities and NaN put right.
// Largest errors seen by math_test.cpp, in units in the last place, f32 and
// f64, all levels: exp 1.0, log 1.0, tanh 3.0, sigmoid 2.2.
#if defined(NEAP_KERNELS_MATH_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_MATH_INL_HPP_
#undef NEAP_KERNELS_MATH_INL_HPP_
#else
#define NEAP_KERNELS_MATH_INL_HPP_
#endif

#include <limits>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE V exp_of(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr bool kIsF32 = sizeof(T) == 4;
  // Where e^x leaves the finite and the positive numbers.
  const V high =
      hn::Set(d, kIsF32 ? T(88.72283935546875) : T(709.782712893384));
  const V low = hn::Set(d, kIsF32 ? T(-104) : T(-746));
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const auto is_inside = hn::And(hn::Ge(x, low), hn::Le(x, high));
  const V y = hn::Exp(d, hn::IfThenElseZero(is_inside, x));
  const V outside = hn::IfThenElse(hn::Gt(x, high), infinity,
                                   hn::IfThenZeroElse(hn::Lt(x, low), x));
  return hn::IfThenElse(is_inside, y, outside);
}

template <class D, class V>
HWY_INLINE V log_of(D d, V x) {
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d);
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  const auto is_inside = hn::And(hn::Gt(x, zero), hn::Lt(x, infinity));
  const V y = hn::Log(d, hn::IfThenElse(is_inside, x, hn::Set(d, T(1))));
  const V below = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), nan);
  const V outside = hn::IfThenElse(hn::Eq(x, infinity), infinity, below);
  return hn::IfThenElse(is_inside, y, outside);
}

template <class D, class V>
HWY_INLINE V tanh_of(D d, V x) {
  using T = hn::TFromD<D>;
  // From here on tanh is 1 to the last bit. NaN fails the comparison.
  const V limit = hn::Set(d, sizeof(T) == 4 ? T(10) : T(20));
  const V size = hn::Abs(x);
  const auto is_inside = hn::Lt(size, limit);
  const V y = hn::Tanh(d, hn::IfThenElseZero(is_inside, x));
  const V one = hn::CopySign(hn::Set(d, T(1)), x);
  return hn::IfThenElse(is_inside, y, hn::IfThenElse(hn::Eq(x, x), one, x));
}

/// 1 / (1 + e^-x) without overflow, and exact to a few units in the last place
/// for negative x too.
template <class D, class V>
HWY_INLINE V sigmoid_of(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1));
  const V e = exp_of(d, hn::Neg(hn::Abs(x)));
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  return hn::Div(numerator, hn::Add(one, e));
}

/// ln x of one number, the same bits as in a vector.
template <class T>
HWY_INLINE T log_of_one(T x) {
  const hn::ScalableTag<T> d;
  return hn::GetLane(log_of(d, hn::Set(d, x)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
