// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// maximum, minimum: y = the larger, or the smaller, of a and b. No attributes.
// f32, f64, i32, i64.
//   in[0]  a  (...)  any strides
//   in[1]  b  (...)  any strides, dtype of a
//   out[0] y  (...)  any strides, may be a or b where shaped as y
// a and b broadcast to y by NumPy's rule.
// NaN where either is NaN; b where they compare equal.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList maximum_kernels;
extern const KernelList minimum_kernels;

}  // namespace neap::kernels
