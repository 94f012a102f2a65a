// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// fmod: y = a - b trunc(a / b), exactly, with the sign of a; remainder: y = a -
// b floor(a / b), with the sign of b. NaN for b = 0 and for infinite a. No
// attributes. f32, f64.
//   in[0]  a  (...)  any strides
//   in[1]  b  (...)  any strides, dtype of a
//   out[0] y  (...)  any strides, may be a or b where shaped as y
// a and b broadcast to y by NumPy's rule.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList fmod_kernels;
extern const KernelList remainder_kernels;

}  // namespace neap::kernels
