// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sin, cos, tan, asin, acos, atan (radians), sinh, cosh, asinh, acosh, atanh:
// y = f(x); atan2: y in [-pi, pi], the angle of the point with ordinate a and
// abscissa b. No attributes. f32, f64.
//   in[0]  x or a  (...)  any strides
//   in[1]  b       (...)  any strides, dtype of a
//   out[0] y       (...)  any strides, may be an input that is shaped as y
// a and b broadcast to y by NumPy's rule.
//
// sin, cos and tan take angles of any size, and are NaN for infinities. asin,
// acos and atanh are NaN beyond [-1, 1], acosh is below 1.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

#define NEAP_ROW(name, ...) extern const KernelList name##_kernels;
#include "neap/kernels/elementwise/trigonometry.inc"
#undef NEAP_ROW

}  // namespace neap::kernels
