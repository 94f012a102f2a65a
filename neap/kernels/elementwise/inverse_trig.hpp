// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// asin, acos, atan: y in radians; asin and acos are NaN beyond [-1, 1]. No
// attributes. f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
//
// atan2: y in [-pi, pi], the angle of the point with ordinate a, abscissa b.
//   in[0]  a  (...)  any strides
//   in[1]  b  (...)  any strides, dtype of a
//   out[0] y  (...)  any strides, may be a or b where shaped as y
// a and b broadcast to y by NumPy's rule.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList acos_kernels;
extern const KernelList asin_kernels;
extern const KernelList atan_kernels;
extern const KernelList atan2_kernels;

}  // namespace neap::kernels
