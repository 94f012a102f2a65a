// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/rectifiers.hpp"

#include <cmath>

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#ifndef NEAP_KERNELS_GELU_CONSTANTS_
#define NEAP_KERNELS_GELU_CONSTANTS_
namespace neap::kernels {
namespace {

constexpr double kRootHalf = 0.70710678118654752;  // sqrt(1/2)
constexpr double kDensity = 0.39894228040143268;   // 1 / sqrt(2 pi)
constexpr double kTwiceRoot = 1.5957691216057308;  // 2 sqrt(2 / pi)
constexpr double kCubic = 0.044715;

}  // namespace
}  // namespace neap::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/rectifiers.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/activation/activation-inl.hpp"
#include "neap/kernels/elementwise/erf-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class D, class V>
HWY_INLINE V leaky_relu_of(D d, V x, const SlopeAttrs& attrs) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x,
                        hn::Mul(x, constant(d, attrs.slope)));
}

template <class D, class V>
HWY_INLINE V elu_of(D d, V x, const EluAttrs& attrs) {
  const auto is_above = hn::Gt(x, hn::Zero(d));
  if (hn::AllTrue(d, is_above)) {
    return x;
  }
  const V below = hn::Mul(constant(d, attrs.alpha), expm1_of(d, x));
  return hn::IfThenElse(is_above, x, below);
}

template <class D, class V>
HWY_INLINE V elu_grad_of(D d, V g, V y, const EluAttrs& attrs) {
  const V below = hn::Mul(g, hn::Add(y, constant(d, attrs.alpha)));
  return hn::IfThenElse(hn::Gt(y, hn::Zero(d)), g, below);
}

template <class D, class V>
HWY_INLINE V softplus_of(D d, V x, const SoftplusAttrs& attrs) {
  const V z = hn::Mul(x, constant(d, attrs.beta));
  const V y = hn::Div(softplus_of(d, z), constant(d, attrs.beta));
  return hn::IfThenElse(hn::Gt(z, constant(d, attrs.threshold)), x, y);
}

template <class D, class V>
HWY_INLINE V softplus_grad_of(D d, V g, V x, const SoftplusAttrs& attrs) {
  const V z = hn::Mul(x, constant(d, attrs.beta));
  return hn::IfThenElse(hn::Gt(z, constant(d, attrs.threshold)), g,
                        hn::Mul(g, sigmoid_of(d, z)));
}

// The share of a normal distribution below x.
template <class D, class V>
HWY_INLINE V share_below(D d, V x) {
  const V erf = erf_of(d, hn::Mul(x, constant(d, kRootHalf)));
  return hn::MulAdd(erf, constant(d, 0.5), constant(d, 0.5));
}

template <class D, class V>
HWY_INLINE V gelu_of(D d, V x) {
  const V safe = at_least(d, x, -40.0);
  return hn::Mul(safe, share_below(d, safe));
}

template <class D, class V>
HWY_INLINE V gelu_grad_of(D d, V g, V x) {
  const V safe = within(d, x, 40.0);
  const V density =
      hn::Mul(gaussian_of(d, hn::Mul(safe, constant(d, kRootHalf))),
              constant(d, kDensity));
  return hn::Mul(g, hn::MulAdd(safe, density, share_below(d, safe)));
}

// (1 + tanh u) / 2 is the sigmoid of 2 u.
template <class D, class V>
HWY_INLINE V twice_u(D d, V x) {
  const V cubic = hn::Mul(constant(d, kCubic), hn::Mul(x, x));
  return hn::Mul(hn::MulAdd(cubic, x, x), constant(d, kTwiceRoot));
}

template <class D, class V>
HWY_INLINE V gelu_tanh_of(D d, V x) {
  const V safe = at_least(d, x, -40.0);
  return hn::Mul(safe, sigmoid_of(d, twice_u(d, safe)));
}

template <class D, class V>
HWY_INLINE V gelu_tanh_grad_of(D d, V g, V x) {
  const V safe = within(d, x, 40.0);
  const V one = constant(d, 1);
  const V s = sigmoid_of(d, twice_u(d, safe));
  const V slope =
      hn::Mul(constant(d, kTwiceRoot),
              hn::MulAdd(hn::Mul(safe, safe), constant(d, 3 * kCubic), one));
  const V rest = hn::Mul(hn::Mul(safe, hn::Sub(one, s)), slope);
  return hn::Mul(hn::Mul(g, s), hn::Add(rest, one));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

template <class T>
T softplus_at(T x, const SoftplusAttrs& attrs) {
  const T z = x * T(attrs.beta);
  return z > T(attrs.threshold) ? x : std::log1p(std::exp(z)) / T(attrs.beta);
}

template <class T>
T softplus_grad_at(T g, T x, const SoftplusAttrs& attrs) {
  const T z = x * T(attrs.beta);
  return z > T(attrs.threshold) ? g : g / (T(1) + std::exp(-z));
}

template <class T>
T share_below_at(T x) {
  return (T(1) + std::erf(x * T(kRootHalf))) / T(2);
}

template <class T>
T gelu_grad_at(T g, T x) {
  const T density = T(kDensity) * std::exp(x * x / T(-2));
  return g * (share_below_at(x) + x * density);
}

template <class T>
T twice_u_at(T x) {
  return T(kTwiceRoot) * (x + T(kCubic) * x * x * x);
}

template <class T>
T gelu_tanh_grad_at(T g, T x) {
  const T s = T(1) / (T(1) + std::exp(-twice_u_at(x)));
  const T slope = T(kTwiceRoot) * (T(1) + T(3 * kCubic) * x * x);
  return g * s * (T(1) + x * (T(1) - s) * slope);
}

}  // namespace
}  // namespace neap::kernels
#endif  // HWY_ONCE

#define NEAP_ROWS "neap/kernels/activation/rectifiers.inc"
#include "neap/kernels/engine/row_kernels-inl.hpp"
