// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/activation/activations.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/activation/activations.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/activation/activation-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class D, class V>
HWY_INLINE V silu_of(D d, V x) {
  const V safe = at_least(d, x, kFar<D>);
  return hn::Mul(safe, sigmoid_of(d, safe));
}

template <class D, class V>
HWY_INLINE V silu_grad_of(D d, V g, V x) {
  const V safe = within(d, x, -kFar<D>);
  const V one = constant(d, 1);
  const V s = sigmoid_of(d, safe);
  return hn::Mul(hn::Mul(g, s), hn::MulAdd(safe, hn::Sub(one, s), one));
}

// x cut at the bound above which tanh(softplus(x)) is 1 to the last bit.
template <class D, class V>
HWY_INLINE V capped(D d, V x) {
  const V high = constant(d, sizeof(hn::TFromD<D>) == 4 ? 20.0 : 40.0);
  return hn::IfThenElse(hn::Gt(x, high), high, x);
}

// n = (1 + e^x)^2 - 1, so that tanh(ln(1 + e^x)) = n / (n + 2).
template <class D, class V>
HWY_INLINE V power(D d, V x) {
  const V e = exp_of(d, capped(d, x));
  return hn::Mul(e, hn::Add(e, constant(d, 2)));
}

template <class D, class V>
HWY_INLINE V mish_of(D d, V x) {
  const V safe = at_least(d, x, kFar<D>);
  const V n = power(d, safe);
  return hn::Mul(safe, hn::Div(n, hn::Add(n, constant(d, 2))));
}

template <class D, class V>
HWY_INLINE V hard_swish_of(D d, V x) {
  const V share = hn::Min(hn::Add(x, constant(d, 3)), constant(d, 6));
  const V y = hn::Mul(x, hn::Mul(share, constant(d, 1.0 / 6)));
  return hn::IfThenZeroElse(hn::Le(x, constant(d, -3)), y);
}

template <class D, class V>
HWY_INLINE V mish_grad_of(D d, V g, V x) {
  // w = n / (n + 2), dw/dx = 4 e (e + 1) / (n + 2)^2
  const V safe = within(d, x, -kFar<D>);
  const V e = exp_of(d, capped(d, safe));
  const V n = power(d, safe);
  const V below = hn::Add(n, constant(d, 2));
  const V slope =
      hn::Div(hn::Mul(hn::Mul(constant(d, 4), e), hn::Add(e, constant(d, 1))),
              hn::Mul(below, below));
  return hn::Mul(g, hn::MulAdd(safe, slope, hn::Div(n, below)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

template <class T>
T sigmoid_at(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

template <class T>
T log_sigmoid_at(T x) {
  return x < T(0) ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
}

template <class T>
T silu_grad_at(T g, T x) {
  const T s = sigmoid_at(x);
  return g * s * (T(1) + x * (T(1) - s));
}

template <class T>
T hard_swish_at(T x) {
  if (x <= T(-3)) {
    return T(0);
  }
  return x < T(3) ? x * (x + T(3)) / T(6) : x;
}

template <class T>
T mish_factor_at(T x) {
  return std::tanh(std::log1p(std::exp(x)));
}

template <class T>
T mish_grad_at(T g, T x) {
  const T w = mish_factor_at(x);
  return g * (w + x * (T(1) - w * w) * sigmoid_at(x));
}

}  // namespace
}  // namespace neap::kernels
#endif  // HWY_ONCE

#define NEAP_ROWS "neap/kernels/activation/activations.inc"
#include "neap/kernels/engine/row_kernels-inl.hpp"
