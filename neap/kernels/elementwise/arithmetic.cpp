// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/arithmetic.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/arithmetic.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class V>
HWY_INLINE V larger_of(V a, V b) {
  return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
}

template <class V>
HWY_INLINE V smaller_of(V a, V b) {
  return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
}

template <class D, class V>
HWY_INLINE V sign_of(D d, V x) {
  const V one = constant(d, 1);
  const V zero = hn::Zero(d);
  const V below =
      hn::IfThenElse(hn::Lt(x, zero), hn::Neg(one), hn::Add(x, zero));
  return hn::IfThenElse(hn::Gt(x, zero), one, below);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

template <class T>
T magnitude_of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::abs(x);
  } else {
    return x < 0 ? static_cast<T>(-to_wrapping(x)) : x;
  }
}

}  // namespace
}  // namespace neap::kernels
#endif  // HWY_ONCE

#define NEAP_ROWS "neap/kernels/elementwise/arithmetic.inc"
#include "neap/kernels/engine/row_kernels-inl.hpp"
