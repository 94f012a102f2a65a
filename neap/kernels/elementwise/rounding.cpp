// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/rounding.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/rounding.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// A zero has the sign of x, which Highway's emulation forgets.
template <class V>
HWY_INLINE V signed_as(V rounded, V x) {
  return hn::CopySign(rounded, x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#define NEAP_ROWS "neap/kernels/elementwise/rounding.inc"
#include "neap/kernels/engine/row_kernels-inl.hpp"
