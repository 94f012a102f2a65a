// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/exponential.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/exponential.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise/erf-inl.hpp"
#include "neap/kernels/elementwise/pow-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/engine/math-inl.hpp"

#if HWY_ONCE
namespace neap::kernels {
namespace {

template <class T>
T gaussian_at(T x) {
  // The rounding error of the square counts: it goes into an exponent.
  const T square = x * x;
  if (!(square < T(1000))) {
    return std::exp(-square);
  }
  return std::exp(-square) * (T(1) - std::fma(x, x, -square));
}

}  // namespace
}  // namespace neap::kernels
#endif  // HWY_ONCE

#define NEAP_ROWS "neap/kernels/elementwise/exponential.inc"
#include "neap/kernels/engine/row_kernels-inl.hpp"
