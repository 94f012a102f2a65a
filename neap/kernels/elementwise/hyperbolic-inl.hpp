// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Hyperbolic functions and their inverses, good for every input; f32 goes by
// way of f64. (tanh: math-inl.hpp.) Largest errors seen by accuracy_test.cpp,
// in units in the last place, all levels: f32 0.6, f64 sinh and cosh 2.3,
// asinh 2.5, acosh and atanh 2.8.
#if defined(NEAP_KERNELS_HYPERBOLIC_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_HYPERBOLIC_INL_HPP_
#undef NEAP_KERNELS_HYPERBOLIC_INL_HPP_
#else
#define NEAP_KERNELS_HYPERBOLIC_INL_HPP_
#endif

#include "hwy/highway.h"
#include "neap/kernels/engine/wide-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// Where e^a is more than the largest f64, but half of it need not be.
inline constexpr double kExpEnd = 709.0;

// e^a / 2 for a above kExpEnd.
template <class D, class V>
HWY_INLINE V half_exp_of_large(D d, V a) {
  const V half = hn::Set(d, 0.5);
  const V root = exp_of(d, hn::Mul(a, half));
  return hn::Mul(hn::Mul(root, half), root);
}

struct Sinh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V a = hn::Abs(x);
    const auto is_large = hn::Gt(a, hn::Set(d, kExpEnd));
    const V e = expm1_of(d, hn::IfThenZeroElse(is_large, a));
    const V sum = hn::Add(e, hn::Div(e, hn::Add(e, hn::Set(d, 1.0))));
    V y = hn::Mul(sum, hn::Set(d, 0.5));
    if (!hn::AllFalse(d, is_large)) {
      y = hn::IfThenElse(is_large, half_exp_of_large(d, a), y);
    }
    return hn::CopySign(y, x);
  }
};

struct Cosh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V half = hn::Set(d, 0.5);
    const V a = hn::Abs(x);
    const auto is_large = hn::Gt(a, hn::Set(d, kExpEnd));
    const V e = exp_of(d, hn::IfThenZeroElse(is_large, a));
    V y = hn::MulAdd(e, half, hn::Div(half, e));
    if (!hn::AllFalse(d, is_large)) {
      y = hn::IfThenElse(is_large, half_exp_of_large(d, a), y);
    }
    return y;
  }
};

// log1p(x), for large a the logarithm of 2 a.
template <class D, class V, class M>
HWY_INLINE V log1p_or_of_twice(D d, V x, V a, M is_large) {
  const V y = log1p_of(d, hn::IfThenElse(is_large, a, x));
  const V ln2 = hn::Set(d, 0.6931471805599453);
  return hn::Add(y, hn::IfThenElseZero(is_large, ln2));
}

/// asinh |x| = log1p(|x| + x^2 / (1 + sqrt(1 + x^2)))
struct Asinh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const V a = hn::Abs(x);
    const auto is_large = hn::Gt(a, hn::Set(d, 0x1p60));
    const V inside = hn::IfThenElse(is_large, one, a);
    const V root = hn::Sqrt(hn::MulAdd(inside, inside, one));
    const V ratio = hn::Div(hn::Mul(inside, inside), hn::Add(root, one));
    const V y = log1p_or_of_twice(d, hn::Add(inside, ratio), a, is_large);
    return hn::CopySign(y, x);
  }
};

/// acosh x = log1p(t + sqrt(t (t + 2))), t = x - 1; NaN below 1
struct Acosh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const auto is_large = hn::Gt(x, hn::Set(d, 0x1p60));
    const V t = hn::Sub(hn::IfThenElse(is_large, one, x), one);
    const V root = hn::Sqrt(hn::Mul(t, hn::Add(t, hn::Set(d, 2.0))));
    const V y = log1p_or_of_twice(d, hn::Add(t, root), x, is_large);
    const V nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
    return hn::IfThenElse(hn::Ge(x, one), y, nan);
  }
};

/// atanh |x| = log1p(2 |x| / (1 - |x|)) / 2; NaN beyond 1
struct Atanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const V a = hn::Abs(x);
    const V twice = hn::Add(a, a);
    const V ratio = hn::Div(hn::Mul(twice, a), hn::Sub(one, a));
    const V y = log1p_of(d, hn::Add(twice, ratio));
    const V nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
    const V inside = hn::CopySign(hn::Mul(y, hn::Set(d, 0.5)), x);
    return hn::IfThenElse(hn::Le(a, one), inside, nan);
  }
};

template <class D, class V>
HWY_INLINE V sinh_of(D d, V x) {
  return at_least_double(d, Sinh(), x);
}
template <class D, class V>
HWY_INLINE V cosh_of(D d, V x) {
  return at_least_double(d, Cosh(), x);
}
template <class D, class V>
HWY_INLINE V asinh_of(D d, V x) {
  return at_least_double(d, Asinh(), x);
}
template <class D, class V>
HWY_INLINE V acosh_of(D d, V x) {
  return at_least_double(d, Acosh(), x);
}
template <class D, class V>
HWY_INLINE V atanh_of(D d, V x) {
  return at_least_double(d, Atanh(), x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
