// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// More precision than the dtype has: f32 by way of f64, and f64 as the sum of
// two numbers (T. J. Dekker, Numerische Mathematik 18, 1971).
#if defined(NEAP_KERNELS_WIDE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_WIDE_INL_HPP_
#undef NEAP_KERNELS_WIDE_INL_HPP_
#else
#define NEAP_KERNELS_WIDE_INL_HPP_
#endif

#include "hwy/highway.h"
#include "neap/kernels/engine/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Rounds to f32; what is too large becomes infinity. (Highway's emulation
/// stops at the largest number.)
template <class D, class V>
HWY_INLINE hn::Vec<D> to_single(D d, V x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  const hn::Rebind<double, D> wide;
  HWY_ALIGN double from[hn::MaxLanes(d)];
  HWY_ALIGN float to[hn::MaxLanes(d)];
  hn::Store(x, wide, from);
  constexpr double kEnd = 0x1.ffffffp127;  // rounds to the next power of 2
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (std::size_t k = 0; k < hn::Lanes(d); ++k) {
    to[k] = from[k] >= kEnd    ? kInfinity
            : from[k] <= -kEnd ? -kInfinity
                               : static_cast<float>(from[k]);
  }
  return hn::Load(d, to);
#else
  return hn::DemoteTo(d, x);
#endif
}

/// f(d, x...) of f32 vectors computed in f64 vectors. F is a function object,
/// called as f(d, v...).
template <class D, class F, class... V>
HWY_INLINE hn::Vec<D> in_double(D d, const F& f, V... x) {
  const hn::ScalableTag<double> wide;
#if HWY_TARGET == HWY_SCALAR
  return to_single(d, f(wide, hn::PromoteTo(wide, x)...));
#else
  const hn::Half<D> half;
  const auto low = f(wide, hn::PromoteTo(wide, hn::LowerHalf(half, x))...);
  const auto high = f(wide, hn::PromoteTo(wide, hn::UpperHalf(half, x))...);
  return hn::Combine(d, to_single(half, high), to_single(half, low));
#endif
}

/// f of f64 vectors as they are, of f32 vectors by in_double.
template <class D, class F, class... V>
HWY_INLINE hn::Vec<D> at_least_double(D d, const F& f, V... x) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return in_double(d, f, x...);
  } else {
    return f(d, x...);
  }
}

/// high + low, with |low| of about a rounding error of high.
template <class V>
struct Pair {
  V high;
  V low;
};

/// a + b exactly. REQUIRES: |a| >= |b|, or a is 0.
template <class V>
HWY_INLINE Pair<V> sum_of_larger(V a, V b) {
  const V sum = hn::Add(a, b);
  return {sum, hn::Sub(b, hn::Sub(sum, a))};
}

/// a + b exactly.
template <class V>
HWY_INLINE Pair<V> exact_sum(V a, V b) {
  const V sum = hn::Add(a, b);
  const V b_part = hn::Sub(sum, a);
  const V a_part = hn::Sub(sum, b_part);
  return {sum, hn::Add(hn::Sub(a, a_part), hn::Sub(b, b_part))};
}

#if !HWY_NATIVE_FMA
// The upper half of the bits of x.
template <class D, class V>
HWY_INLINE V upper_bits(D d, V x) {
  using T = hn::TFromD<D>;
  const V c = hn::Mul(x, hn::Set(d, sizeof(T) == 4 ? T(4097) : T(134217729)));
  return hn::Sub(c, hn::Sub(c, x));
}
#endif

/// a b exactly, where it neither overflows nor underflows.
template <class D, class V>
HWY_INLINE Pair<V> exact_product([[maybe_unused]] D d, V a, V b) {
  const V product = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  return {product, hn::MulSub(a, b, product)};
#else
  const V a1 = upper_bits(d, a);
  const V b1 = upper_bits(d, b);
  const V a2 = hn::Sub(a, a1);
  const V b2 = hn::Sub(b, b1);
  const V rest = hn::Sub(hn::Mul(a1, b1), product);
  const V cross = hn::Add(hn::Mul(a1, b2), hn::Mul(a2, b1));
  return {product, hn::Add(hn::Add(rest, cross), hn::Mul(a2, b2))};
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
