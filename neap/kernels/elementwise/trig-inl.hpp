// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Trigonometric functions and their inverses, good for every input. Largest
// errors seen by accuracy_test.cpp, in units in the last place, all levels,
// f32 / f64: sin and cos 0.7 / 0.9, tan 0.8 / 2.2, asin 2.4, acos 1.3,
// atan 2.6 / 2.0, atan2 0.6 / 1.8.
#if defined(NEAP_KERNELS_TRIG_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_TRIG_INL_HPP_
#undef NEAP_KERNELS_TRIG_INL_HPP_
#else
#define NEAP_KERNELS_TRIG_INL_HPP_
#endif

#include <cmath>

#include "hwy/highway.h"
#include "neap/kernels/engine/wide-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// Arguments up to here are reduced by vectors; the few beyond go one by one to
// the standard library.
inline constexpr double kTrigEnd = 0x1p20;

// +-1 / n!: of (sin r - r) / r^3 and (cos r - 1 + r^2 / 2) / r^4 in powers of
// r^2. f32 takes the first few.
inline constexpr std::array<double, 8> kSin{-1.0 / 6,
                                            1.0 / 120,
                                            -1.0 / 5040,
                                            1.0 / 362880,
                                            -1.0 / 39916800,
                                            1.0 / 6227020800,
                                            -1.0 / 1307674368000,
                                            1.0 / 355687428096000};
inline constexpr std::array<double, 8> kCos{1.0 / 24,
                                            -1.0 / 720,
                                            1.0 / 40320,
                                            -1.0 / 3628800,
                                            1.0 / 479001600,
                                            -1.0 / 87178291200,
                                            1.0 / 20922789888000,
                                            -1.0 / 6402373705728000};

template <std::size_t kCount, std::size_t kAll>
constexpr std::array<double, kCount> first_few(
    const std::array<double, kAll>& c) {
  std::array<double, kCount> few{};
  for (std::size_t i = 0; i < kCount; ++i) {
    few[i] = c[i];
  }
  return few;
}

// pi / 2 in parts of 33 bits, each times a number below 2^20 exact, and a rest.
inline constexpr std::array kHalfPi{0x1.921fb544p+0, 0x1.0b4611a6p-34,
                                    0x1.3198a2ep-69, 0x1.b839a252049c1p-104};

/// r = x - n pi / 2 in [-pi / 4, pi / 4]. For f32 (kFew) the low part is 0.
template <bool kFew, class D, class V>
HWY_INLINE Pair<V> reduce(D d, V x, V n) {
  const auto half_pi = [d](std::size_t k)
                           HWY_ATTR { return hn::Set(d, kHalfPi[k]); };
  const V first = hn::NegMulAdd(n, half_pi(0), x);  // exact
  if constexpr (kFew) {
    const V rest = hn::Set(d, 0x1.0b4611a626331p-34);
    return {hn::NegMulAdd(n, rest, first), hn::Zero(d)};
  } else {
    const Pair<V> second = exact_sum(first, hn::Neg(hn::Mul(n, half_pi(1))));
    const Pair<V> third =
        exact_sum(second.high, hn::Neg(hn::Mul(n, half_pi(2))));
    const V low = hn::NegMulAdd(n, half_pi(3), hn::Add(second.low, third.low));
    return sum_of_larger(third.high, low);
  }
}

/// sin r and cos r of a reduced argument.
template <bool kFew, class D, class V>
HWY_INLINE void sin_cos(D d, const Pair<V>& r, V& sine, V& cosine) {
  constexpr std::size_t kCount = kFew ? 4 : 8;
  constexpr auto kSinFew = first_few<kCount>(kSin);
  constexpr auto kCosFew = first_few<kCount>(kCos);
  const V one = hn::Set(d, 1.0);
  const V z = hn::Mul(r.high, r.high);
  const V half_z = hn::Mul(z, hn::Set(d, 0.5));
  const V about_cos = hn::Sub(one, half_z);
  // sin(r + low) is about sin r + low cos r, cos(r + low) cos r - low r.
  const V s = hn::Mul(hn::Mul(r.high, z), polynomial(d, z, kSinFew));
  sine = hn::Add(r.high, hn::MulAdd(r.low, about_cos, s));
  const V c = hn::NegMulAdd(r.high, r.low,
                            hn::Mul(hn::Mul(z, z), polynomial(d, z, kCosFew)));
  const V rounded = hn::Sub(hn::Sub(one, about_cos), half_z);
  cosine = hn::Add(about_cos, hn::Add(rounded, c));
}

// sin(x + kQuarters pi / 2) for |x| <= kTrigEnd, in f64.
template <int kQuarters, bool kFew>
struct Sine {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const hn::RebindToSigned<D> bits;
    const Whole<D, V> n(d, hn::Mul(x, hn::Set(d, 0x1.45f306dc9c883p-1)));
    V sine;
    V cosine;
    sin_cos<kFew>(d, reduce<kFew>(d, x, n.number), sine, cosine);
    const auto quarter = hn::Add(n.bits, hn::Set(bits, kQuarters));
    const auto one = hn::Set(bits, 1);
    const auto is_odd = hn::RebindMask(d, hn::Eq(hn::And(quarter, one), one));
    const V sign =
        hn::BitCast(d, hn::ShiftLeft<62>(hn::And(quarter, hn::Set(bits, 2))));
    return hn::Xor(hn::IfThenElse(is_odd, cosine, sine), sign);
  }
};

template <bool kFew>
struct Tangent {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const hn::RebindToSigned<D> bits;
    const Whole<D, V> n(d, hn::Mul(x, hn::Set(d, 0x1.45f306dc9c883p-1)));
    V sine;
    V cosine;
    sin_cos<kFew>(d, reduce<kFew>(d, x, n.number), sine, cosine);
    const auto one = hn::Set(bits, 1);
    const auto is_odd = hn::RebindMask(d, hn::Eq(hn::And(n.bits, one), one));
    const V above = hn::IfThenElse(is_odd, hn::Neg(cosine), sine);
    return hn::Div(above, hn::IfThenElse(is_odd, sine, cosine));
  }
};

struct SinOfOne {
  template <class T>
  T operator()(T x) const {
    return std::sin(x);
  }
};
struct CosOfOne {
  template <class T>
  T operator()(T x) const {
    return std::cos(x);
  }
};
struct TanOfOne {
  template <class T>
  T operator()(T x) const {
    return std::tan(x);
  }
};

// y, but f(x) in the lanes where |x| is beyond kTrigEnd or x is NaN.
template <class D, class V, class F>
HWY_INLINE V with_large(D d, V x, V y, F f) {
  using T = hn::TFromD<D>;
  constexpr T kEnd = static_cast<T>(kTrigEnd);
  if (HWY_LIKELY(hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kEnd))))) {
    return y;
  }
  HWY_ALIGN T from[hn::MaxLanes(d)];
  HWY_ALIGN T to[hn::MaxLanes(d)];
  hn::Store(x, d, from);
  hn::Store(y, d, to);
  for (std::size_t k = 0; k < hn::Lanes(d); ++k) {
    if (!(std::abs(from[k]) <= kEnd)) {
      to[k] = f(from[k]);
    }
  }
  return hn::Load(d, to);
}

template <class D, class V>
HWY_INLINE V sin_of(D d, V x) {
  constexpr bool kFew = sizeof(hn::TFromD<D>) == 4;
  const V y = at_least_double(d, Sine<0, kFew>(), x);
  const V signed_zero = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
  return with_large(d, x, signed_zero, SinOfOne());
}

template <class D, class V>
HWY_INLINE V cos_of(D d, V x) {
  constexpr bool kFew = sizeof(hn::TFromD<D>) == 4;
  return with_large(d, x, at_least_double(d, Sine<1, kFew>(), x), CosOfOne());
}

template <class D, class V>
HWY_INLINE V tan_of(D d, V x) {
  constexpr bool kFew = sizeof(hn::TFromD<D>) == 4;
  const V y = at_least_double(d, Tangent<kFew>(), x);
  const V signed_zero = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
  return with_large(d, x, signed_zero, TanOfOne());
}

// y where |x| <= 1, else NaN.
template <class D, class V>
HWY_INLINE V within_one(D d, V x, V y) {
  using T = hn::TFromD<D>;
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  return hn::IfThenElse(hn::Le(hn::Abs(x), hn::Set(d, T(1))), y, nan);
}

template <class D, class V>
HWY_INLINE V asin_of(D d, V x) {
  return within_one(d, x, hn::CopySign(hn::Asin(d, x), x));
}

template <class D, class V>
HWY_INLINE V acos_of(D d, V x) {
  return within_one(d, x, hn::Acos(d, x));
}

template <class D, class V>
HWY_INLINE V atan_of(D d, V x) {
  const V y = hn::CopySign(hn::Atan(d, x), x);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// The angle of the point (x, y), in [-pi, pi].
struct Atan2 {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V x) const {
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0);
    const V y_size = hn::Abs(y);
    const V x_size = hn::Abs(x);
    const auto is_steep = hn::Gt(y_size, x_size);
    const V large = hn::IfThenElse(is_steep, y_size, x_size);
    const V small = hn::IfThenElse(is_steep, x_size, y_size);
    V ratio = hn::Div(small, large);
    ratio = hn::IfThenElse(hn::Eq(large, small), one, ratio);  // infinities
    ratio = hn::IfThenElse(hn::Eq(small, zero), zero, ratio);  // the origin
    V angle = hn::Atan(d, ratio);
    const V half_pi = hn::Set(d, 0x1.921fb54442d18p+0);
    const V half_pi_low = hn::Set(d, 0x1.1a62633145c07p-54);
    angle = hn::IfThenElse(
        is_steep, hn::Add(hn::Sub(half_pi, angle), half_pi_low), angle);
    const V pi_low = hn::Add(half_pi_low, half_pi_low);
    const V mirrored =
        hn::Add(hn::Sub(hn::Add(half_pi, half_pi), angle), pi_low);
    const auto is_left = hn::Lt(hn::CopySign(one, x), zero);
    angle = hn::CopySign(hn::IfThenElse(is_left, mirrored, angle), y);
    return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), hn::Add(x, y),
                          angle);
  }
};

template <class D, class V>
HWY_INLINE V atan2_of(D d, V y, V x) {
  return at_least_double(d, Atan2(), y, x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
