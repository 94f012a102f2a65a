// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The error function, its complement and the bell curve e^-(x x), good for
// every input. Largest errors seen by accuracy_test.cpp, in units in the last
// place, all levels, f32 / f64: erf 2.7 / 1.8, erfc 0.6 / 3.9, gaussian 1.6.
#if defined(NEAP_KERNELS_ERF_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_ERF_INL_HPP_
#undef NEAP_KERNELS_ERF_INL_HPP_
#else
#define NEAP_KERNELS_ERF_INL_HPP_
#endif

#include "hwy/highway.h"
#include "neap/kernels/engine/wide-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// e^-(x x), with the rounding error of the square made good: it would be
/// multiplied by up to 100 (f64: 700).
template <class D, class V>
HWY_INLINE V gaussian_of(D d, V x) {
  using T = hn::TFromD<D>;
  const V limit = hn::Set(d, sizeof(T) == 4 ? T(15) : T(40));  // 0 beyond
  const V size = hn::Abs(x);
  const V inside = hn::IfThenElse(hn::Gt(size, limit), limit, size);
  const Pair<V> square = exact_product(d, inside, inside);
  const V y = exp_of(d, hn::Neg(square.high));
  return hn::NegMulAdd(y, square.low, y);
}

// Coefficients are Chebyshev fits made with 60 digits.

// erf(x) / x in powers of x^2, for |x| <= 1; to 2^-29 and 2^-62.
inline constexpr std::array<double, 7> kErfF32{
    1.12837917,    -0.376126267,    0.112835947,   -0.026854212,
    0.00518908742, -0.000801686429, 7.87587506e-05};
inline constexpr std::array<double, 13> kErfF64{
    1.1283791670955126,      -0.37612638903183748,    0.11283791670954879,
    -0.026866170645076792,   0.0052239776248180145,   -0.000854832698083379,
    0.0001205533111164271,   -1.4925595266831182e-05, 1.6461000484121368e-06,
    -1.6350312701054695e-07, 1.4659775274047436e-08,  -1.1372848856791674e-09,
    5.9571761477489113e-11};

// ln erfc(x) in powers of x, for x in [0.99, 4]; to 2^-25.
inline constexpr std::array<double, 9> kLogErfcF32{
    0.000320914383, -1.13023672,     -0.631820247,
    -0.11008568,    0.0264243709,    -0.00476074771,
    0.000597052946, -4.60874473e-05, 1.63863732e-06};

// (1 + 2 x) e^(x^2) erfc(x), which hardly varies, in powers of (x - 3) / (x +
// 3) (M. M. Shepherd, J. G. Laframboise, Math. Comp. 36, 1981), for x in [0.5,
// 28]; to 2^-57.
inline constexpr std::array<double, 22> kErfcF64{
    1.2530080582697296,      -0.13562110612458134,    -0.047562294353450579,
    0.12964515870278351,     -0.11927366341532432,    0.068308027343070774,
    -0.023770514918036445,   0.0025293918326751859,   0.0018886903466049378,
    -0.00077983243987931326, -0.0001051596522473519,  0.00012510037313823361,
    4.9484535339192485e-06,  -2.0104454851557477e-05, -7.2706031098829307e-07,
    3.4816869834520462e-06,  3.4482536968247793e-07,  -6.2991291032825409e-07,
    -1.2169240627639653e-07, 1.1177528463195771e-07,  2.2923930099218989e-08,
    -1.5410552924746669e-08};

/// erf x for |x| <= 1.
template <class D, class V>
HWY_INLINE V erf_near_0(D d, V x) {
  const V z = hn::Mul(x, x);
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::Mul(x, polynomial(d, z, kErfF32));
  } else {
    return hn::Mul(x, polynomial(d, z, kErfF64));
  }
}

/// erfc x for x >= 0.5; f64.
template <class D, class V>
HWY_INLINE V erfc_tail(D d, V x) {
  const V limit = hn::Set(d, 28.0);  // 0 beyond
  const V inside = hn::IfThenElse(hn::Gt(x, limit), limit, x);
  const V k = hn::Set(d, 3.0);
  const V t = hn::Div(hn::Sub(inside, k), hn::Add(inside, k));
  const V below = hn::Add(hn::Add(inside, inside), hn::Set(d, 1.0));
  const V scaled = hn::Div(polynomial(d, t, kErfcF64), below);
  return hn::Mul(gaussian_of(d, inside), scaled);
}

/// erf x for x >= 1.
template <class D, class V>
HWY_INLINE V erf_tail(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1));
  if constexpr (sizeof(T) == 4) {
    const V inside = hn::Min(x, hn::Set(d, T(4)));  // 1 beyond
    return hn::Sub(one, exp_of(d, polynomial(d, inside, kLogErfcF32)));
  } else {
    return hn::Sub(one, erfc_tail(d, x));
  }
}

template <class D, class V>
HWY_INLINE V erf_of(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1));
  const V size = hn::Abs(x);
  const auto is_far = hn::Gt(size, one);  // not for NaN
  const V near = erf_near_0(d, hn::IfThenZeroElse(is_far, x));
  const V far = erf_tail(d, hn::IfThenElse(is_far, size, one));
  return hn::IfThenElse(is_far, hn::CopySign(far, x), near);
}

struct ErfcOfDouble {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const V start = hn::Set(d, 0.5);
    const V size = hn::Abs(x);
    // Within [-1, 0.5] it is 1 - erf, elsewhere the tail, mirrored for negative
    // x.
    const auto is_far = hn::Or(hn::Gt(x, start), hn::Gt(size, one));
    const V near = hn::Sub(one, erf_near_0(d, hn::IfThenZeroElse(is_far, x)));
    const V tail = erfc_tail(d, hn::IfThenElse(is_far, size, start));
    const V mirrored = hn::Sub(hn::Set(d, 2.0), tail);
    const V far = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), mirrored, tail);
    return hn::IfThenElse(is_far, far, near);
  }
};

template <class D, class V>
HWY_INLINE V erfc_of(D d, V x) {
  return at_least_double(d, ErfcOfDouble(), x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
