// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// add, sub, mul, div, maximum, minimum: y = f(a, b); neg, abs, sign, square,
// sqrt, rsqrt, reciprocal: y = f(x). No attributes. f32 and f64, and i32 and
// i64 (which wrap) but for div, sqrt, rsqrt and reciprocal.
//   in[0]  x or a  (...)  any strides
//   in[1]  b       (...)  any strides, dtype of a
//   out[0] y       (...)  any strides, may be an input that is shaped as y
// a and b broadcast to y by NumPy's rule.
//
// sign(NaN) = NaN, sign(-0) = 0. maximum and minimum are NaN where either is,
// and b where they compare equal. sqrt and rsqrt are NaN below 0. div, sqrt and
// reciprocal are correctly rounded.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

#define NEAP_ROW(name, ...) extern const KernelList name##_kernels;
#include "neap/kernels/elementwise/arithmetic.inc"
#undef NEAP_ROW

}  // namespace neap::kernels
