// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Powers, and logarithms to bases 2 and 10, good for every input. f32 goes by
// way of f64; f64 takes a logarithm of about 65 bits. Largest errors seen by
// accuracy_test.cpp, in units in the last place, all levels, f32 / f64: log2
// and log10 0.6, pow 0.6 / 1.6.
#if defined(NEAP_KERNELS_POW_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_POW_INL_HPP_
#undef NEAP_KERNELS_POW_INL_HPP_
#else
#define NEAP_KERNELS_POW_INL_HPP_
#endif

#include "hwy/highway.h"
#include "neap/kernels/engine/wide-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// 2 / (2 k + 1) for k = 2, 3, ...: of ln((1 + s) / (1 - s)) over s^5.
inline constexpr std::array<double, 12> kLogTail{
    2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13, 2.0 / 15,
    2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23, 2.0 / 25, 2.0 / 27};

/// x = 2^e m with m in [sqrt(1/2), sqrt(2)). REQUIRES: x > 0, finite, f64.
template <class D, class V>
HWY_INLINE void split_scale(D d, V x, V& m, V& e) {
  const hn::RebindToUnsigned<D> bits;
  const auto is_subnormal = hn::Lt(x, hn::Set(d, 0x1p-1022));
  const V normal =
      hn::IfThenElse(is_subnormal, hn::Mul(x, hn::Set(d, 0x1p54)), x);
  const auto word = hn::BitCast(bits, normal);
  // Counted from the bits of sqrt(1/2), whole steps of 2 are the exponent.
  const auto from_root = hn::Sub(word, hn::Set(bits, 0x3FE6A09E00000000U));
  const auto biased = hn::ShiftRight<52>(
      hn::Add(from_root, hn::Set(bits, 0x3FF0000000000000U)));
  const auto steps = hn::And(from_root, hn::Set(bits, 0xFFF0000000000000U));
  m = hn::BitCast(d, hn::Sub(word, steps));
  // An integer below 2^52 as the fraction of 2^52.
  const V shift = hn::Set(d, 0x1p52);
  const V number =
      hn::Sub(hn::BitCast(d, hn::Or(biased, hn::BitCast(bits, shift))), shift);
  const V bias = hn::IfThenElse(is_subnormal, hn::Set(d, 1023.0 + 54.0),
                                hn::Set(d, 1023.0));
  e = hn::Sub(number, bias);
}

/// ln x to about 2^-65 of itself. REQUIRES: x > 0, finite, f64.
///   ln m = 2 s + (2/3) s^3 + s^5 (2/5 + ...), s = (m - 1) / (m + 1)
template <class D, class V>
HWY_INLINE Pair<V> log_pair(D d, V x) {
  V m;
  V e;
  split_scale(d, x, m, e);
  const V f = hn::Sub(m, hn::Set(d, 1.0));
  const Pair<V> below = sum_of_larger(hn::Set(d, 2.0), f);
  V s = hn::Div(f, below.high);
  const Pair<V> back = exact_product(d, s, below.high);
  const V rest =
      hn::NegMulAdd(s, below.low, hn::Sub(hn::Sub(f, back.high), back.low));
  const V s_low = hn::Div(rest, below.high);
  Pair<V> z = exact_product(d, s, s);
  z.low = hn::MulAdd(hn::Add(s, s), s_low, z.low);
  Pair<V> cube = exact_product(d, s, z.high);
  cube.low = hn::Add(cube.low, hn::MulAdd(s, z.low, hn::Mul(s_low, z.high)));
  const V two_thirds = hn::Set(d, 2.0 / 3);
  Pair<V> third = exact_product(d, cube.high, two_thirds);
  third.low = hn::MulAdd(cube.high, hn::Set(d, 0x1.5555555555555p-55),
                         hn::MulAdd(cube.low, two_thirds, third.low));
  const V tail =
      hn::Mul(hn::Mul(cube.high, z.high), polynomial(d, z.high, kLogTail));
  // e ln 2, its first part exact.
  const V e_ln2 = hn::Mul(e, hn::Set(d, 0x1.62e42feep-1));
  const Pair<V> first = exact_sum(e_ln2, hn::Add(s, s));
  const Pair<V> second = exact_sum(first.high, third.high);
  V low = hn::MulAdd(e, hn::Set(d, 0x1.a39ef35793c76p-33),
                     hn::Add(hn::Add(s_low, s_low), hn::Add(third.low, tail)));
  low = hn::Add(low, hn::Add(first.low, second.low));
  return sum_of_larger(second.high, low);
}

// A constant in two parts.
struct Wide {
  double high;
  double low;
};
inline constexpr Wide kLog2E{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
inline constexpr Wide kLog10E{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

/// c ln x for finite x > 0, c one of the above; f64.
template <class D, class V>
HWY_INLINE V log_times(D d, V x, const Wide& c) {
  const Pair<V> log = log_pair(d, x);
  const V c_high = hn::Set(d, c.high);
  const Pair<V> y = exact_product(d, log.high, c_high);
  const V low = hn::MulAdd(log.high, hn::Set(d, c.low),
                           hn::MulAdd(log.low, c_high, y.low));
  return hn::Add(y.high, low);
}

template <const Wide& kFactor>
struct LogTimes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return log_times(d, x, kFactor);
  }
};

// Like log_times, where a plain f64 logarithm is far better than the result.
template <const Wide& kFactor>
struct PlainLogTimes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(hn::Log(d, x), hn::Set(d, kFactor.high));
  }
};

// A logarithm that is exact where it is a whole number.
template <const Wide& kFactor, class D, class V>
HWY_INLINE V exact_log(D d, V x) {
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d);
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  const auto is_inside = hn::And(hn::Gt(x, zero), hn::Lt(x, infinity));
  const V inside = hn::IfThenElse(is_inside, x, hn::Set(d, T(1)));
  V y;
  if constexpr (sizeof(T) == 4) {
    y = in_double(d, PlainLogTimes<kFactor>(), inside);
  } else {
    y = log_times(d, inside, kFactor);
  }
  const V below = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), nan);
  const V outside = hn::IfThenElse(hn::Eq(x, infinity), infinity, below);
  return hn::IfThenElse(is_inside, y, outside);
}

template <class D, class V>
HWY_INLINE V log2_of(D d, V x) {
  return exact_log<kLog2E>(d, x);
}

template <class D, class V>
HWY_INLINE V log10_of(D d, V x) {
  return exact_log<kLog10E>(d, x);
}

// a^y for a > 0 and finite, |y| <= 2^100; f64 to a few units in the last place.
struct PowOfPositive {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V y) const {
    const Pair<V> log = log_pair(d, a);
    const Pair<V> product = exact_product(d, log.high, y);
    const V low = hn::MulAdd(log.low, y, product.low);
    const V power = exp_of(d, product.high);
    // e^low is 1 + low; an infinite power stays, and so does 0.
    const auto is_plain = hn::And(
        hn::Gt(power, hn::Zero(d)),
        hn::Lt(power, hn::Set(d, std::numeric_limits<double>::infinity())));
    return hn::IfThenElse(is_plain, hn::MulAdd(power, low, power), power);
  }
};

// The same, good for f32 alone.
struct PlainPowOfPositive {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V y) const {
    return exp_of(d, hn::Mul(hn::Log(d, a), y));
  }
};

/// x^y by the rules of IEEE 754 (and so of std::pow): 1 for y = 0 and for
/// x = 1, NaN for x < 0 and y no whole number.
template <class D, class V>
HWY_INLINE V pow_of(D d, V x, V y) {
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, T(1));
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const V a = hn::Abs(x);
  const auto is_ordinary = hn::And(hn::Gt(a, zero), hn::Lt(a, infinity));
  const V limit = hn::Set(d, T(0x1p100));
  const V capped =
      hn::IfThenElse(hn::Gt(hn::Abs(y), limit), hn::CopySign(limit, y), y);
  const V base = hn::IfThenElse(is_ordinary, a, one);
  V power;
  if constexpr (sizeof(T) == 4) {
    power = in_double(d, PlainPowOfPositive(), base, capped);
  } else {
    power = PowOfPositive()(d, base, capped);
  }
  const V end = hn::IfThenElse(hn::Gt(y, zero), a, hn::Div(one, a));
  power = hn::IfThenElse(is_ordinary, power, end);

  const V half = hn::Mul(y, hn::Set(d, T(0.5)));
  const auto is_whole = hn::Eq(hn::Floor(y), y);
  const auto is_odd = hn::AndNot(hn::Eq(hn::Floor(half), half), is_whole);
  const auto is_negative = hn::Lt(hn::CopySign(one, x), zero);  // -0 too
  power = hn::IfThenElse(hn::And(is_odd, is_negative), hn::Neg(power), power);
  const auto is_undefined = hn::AndNot(
      is_whole, hn::And(hn::Lt(x, zero), hn::Gt(x, hn::Neg(infinity))));
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  power = hn::IfThenElse(is_undefined, nan, power);
  power = hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), nan, power);
  return hn::IfThenElse(hn::Or(hn::Eq(y, zero), hn::Eq(x, one)), one, power);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
