// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ceil, floor, trunc (towards 0) and round (to the nearest whole number, halves
// to the even one). Infinities and NaN stay. No attributes. f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

#define NEAP_ROW(name, ...) extern const KernelList name##_kernels;
#include "neap/kernels/elementwise/rounding.inc"
#undef NEAP_ROW

}  // namespace neap::kernels
