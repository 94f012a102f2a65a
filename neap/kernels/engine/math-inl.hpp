// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Transcendental functions on vectors of f32 or f64, good for every input:
// Highway's, with the ends of their ranges, infinities and NaN put right.
// Largest errors seen by math_test.cpp, in units in the last place, f32 and
// f64, all levels: exp 1.0, log 1.0, tanh 3.0, sigmoid 2.2, expm1 1.9,
// log1p 2.4.
#if defined(NEAP_KERNELS_MATH_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_MATH_INL_HPP_
#undef NEAP_KERNELS_MATH_INL_HPP_
#else
#define NEAP_KERNELS_MATH_INL_HPP_
#endif

#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V, std::size_t kCount, std::size_t... k>
HWY_INLINE V horner(D d, V x, const std::array<double, kCount>& c,
                    std::index_sequence<k...>) {
  using T = hn::TFromD<D>;
  V y = hn::Set(d, static_cast<T>(c[kCount - 1]));
  ((y = hn::MulAdd(y, x, hn::Set(d, static_cast<T>(c[kCount - 2 - k])))), ...);
  return y;
}

/// c[0] + c[1] x + c[2] x^2 + ...
template <class D, class V, std::size_t kCount>
HWY_INLINE V polynomial(D d, V x, const std::array<double, kCount>& c) {
  return horner(d, x, c, std::make_index_sequence<kCount - 1>());
}

/// The whole number nearest to x (of at most 2^22, f64: 2^51), and the same as
/// the low bits of an integer, by a sum that leaves no room for fractions.
template <class D, class V>
struct Whole {
  using Bits = hn::RebindToSigned<D>;
  V number;
  hn::Vec<Bits> bits;

  HWY_INLINE Whole(D d, V x) {
    using T = hn::TFromD<D>;
    const V shift = hn::Set(d, sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52));
    const V shifted = hn::Add(x, shift);
    number = hn::Sub(shifted, shift);
    bits = hn::BitCast(Bits(), shifted);
  }
};

/// 2^n, for n given by its low bits; n in the range of normal exponents.
template <class D, class VBits>
HWY_INLINE hn::Vec<D> two_to(D d, VBits n) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> bits;
  constexpr int kFraction = sizeof(T) == 4 ? 23 : 52;
  constexpr int kBias = sizeof(T) == 4 ? 127 : 1023;
  return hn::BitCast(
      d, hn::ShiftLeft<kFraction>(hn::Add(n, hn::Set(bits, kBias))));
}

#if HWY_TARGET <= HWY_AVX2
// 2^n y for a whole n, rounded once.
template <class D, class V>
HWY_INLINE V scale_by_power(D d, V y, V n) {
#if HWY_TARGET <= HWY_AVX3  // one instruction
  if constexpr (hn::MaxLanes(d) == 16) {
    return V{_mm512_scalef_ps(y.raw, n.raw)};
  } else if constexpr (hn::MaxLanes(d) == 8) {
    return V{_mm256_scalef_ps(y.raw, n.raw)};
  } else {
    return V{_mm_scalef_ps(y.raw, n.raw)};
  }
#else  // in two steps, the first of which is exact
  const hn::RebindToSigned<D> bits;
  const auto whole = hn::ConvertTo(bits, n);
  const auto part = hn::ShiftRight<1>(whole);
  return hn::Mul(hn::Mul(y, two_to(d, part)), two_to(d, hn::Sub(whole, part)));
#endif
}

// e^x of f32 with the bits of hn::Exp, in fewer instructions. Where x is NaN,
// Max and Min give the second operand.
template <class D, class V>
HWY_INLINE V exp_of_floats(D d, V x) {
  const V low = hn::Set(d, -104.0F);  // e^x is 0 here, and infinite at the high
  const V high = hn::Set(d, 89.0F);
  const V inside = hn::Min(high, hn::Max(low, x));
  const V half = hn::CopySign(hn::Set(d, 0.5F), inside);
  const V n = hn::Trunc(hn::MulAdd(inside, hn::Set(d, 1.442695041F), half));
  V r = hn::MulAdd(n, hn::Set(d, -0.693145751953125F), inside);
  r = hn::MulAdd(n, hn::Set(d, -1.428606765330187045e-6F), r);
  const V r2 = hn::Mul(r, r);
  const V c01 =
      hn::MulAdd(hn::Set(d, 0.166666671633720397949219F), r, hn::Set(d, 0.5F));
  const V c23 = hn::MulAdd(hn::Set(d, 0.00833336077630519866943359F), r,
                           hn::Set(d, 0.0416664853692054748535156F));
  const V c45 = hn::MulAdd(hn::Set(d, 0.000198527617612853646278381F), r,
                           hn::Set(d, 0.00139304355252534151077271F));
  const V c = hn::MulAdd(hn::Mul(r2, r2), c45, hn::MulAdd(r2, c23, c01));
  const V y = hn::Add(hn::MulAdd(c, r2, r), hn::Set(d, 1.0F));
  return scale_by_power(d, y, n);
}
#endif

template <class D, class V>
HWY_INLINE V exp_of(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr bool kIsF32 = sizeof(T) == 4;
#if HWY_TARGET <= HWY_AVX2
  if constexpr (kIsF32) {
    return exp_of_floats(d, x);
  }
#endif
  // Bounds at which e^x leaves the finite and the positive numbers.
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
  // For larger x tanh is 1 to the last bit. NaN fails the comparison.
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

// 1 / 2!, 1 / 3!, ...: of e^r - 1 - r over r^2 for |r| <= ln(2) / 2.
inline constexpr std::array<double, 6> kExpm1F32{
    1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040};
inline constexpr std::array<double, 12> kExpm1F64{
    1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
    1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
    1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};

/// e^x - 1 = 2^n (e^r - 1 + (1 - 2^-n)), for x = n ln 2 + r.
template <class D, class V>
HWY_INLINE V expm1_of(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr bool kIsF32 = sizeof(T) == 4;
  const V low = hn::Set(d, T(-40));                    // from here on it is -1
  const V high = hn::Set(d, kIsF32 ? T(89) : T(710));  // infinity
  const V capped = hn::IfThenElse(hn::Gt(x, high), high, x);
  const V inside = hn::IfThenElse(hn::Lt(x, low), low, capped);
  const Whole<D, V> n(d, hn::Mul(inside, hn::Set(d, T(1.4426950408889634))));
  // ln 2 in two parts; the first times n is exact.
  const V ln2_high = hn::Set(d, kIsF32 ? T(0x1.63p-1) : T(0x1.62e42feep-1));
  const V ln2_low =
      hn::Set(d, kIsF32 ? T(-2.1219444005e-4) : T(1.9082149292705877e-10));
  const V r = hn::NegMulAdd(n.number, ln2_low,
                            hn::NegMulAdd(n.number, ln2_high, inside));
  V q;
  if constexpr (kIsF32) {
    q = polynomial(d, r, kExpm1F32);
  } else {
    q = polynomial(d, r, kExpm1F64);
  }
  const V p = hn::MulAdd(hn::Mul(r, r), q, r);
  // Beyond 2^60 the 1 no longer counts, and 2^-n leaves the normal numbers.
  const hn::RebindToSigned<D> bits;
  const Whole<D, V> m(d, hn::Min(n.number, hn::Set(d, T(60))));
  const auto minus_m = hn::Neg(m.bits);
  const V sum = hn::Add(p, hn::Sub(hn::Set(d, T(1)), two_to(d, minus_m)));
  // In two steps: 2^n itself may be more than the largest number.
  const V half = hn::Mul(sum, two_to(d, hn::Sub(n.bits, hn::Set(bits, 1))));
  return hn::IfThenElse(hn::Eq(n.number, hn::Zero(d)), hn::CopySign(p, x),
                        hn::Add(half, half));
}

template <class D, class V>
HWY_INLINE V log1p_of(D d, V x) {
  using T = hn::TFromD<D>;
  const V minus_one = hn::Set(d, T(-1));
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  const auto is_inside = hn::And(hn::Gt(x, minus_one), hn::Lt(x, infinity));
  const V y = hn::Log1p(d, hn::IfThenElseZero(is_inside, x));
  const V below = hn::IfThenElse(hn::Eq(x, minus_one), hn::Neg(infinity), nan);
  const V outside = hn::IfThenElse(hn::Eq(x, infinity), infinity, below);
  return hn::IfThenElse(is_inside, y, outside);
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
