// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sub: y = a - b. No attributes. f32, f64, i32, i64 (integers wrap).
//   in[0]  a  (...)  any strides
//   in[1]  b  (...)  any strides, dtype of a
//   out[0] y  (...)  any strides, may be a or b where shaped as y
// a and b broadcast to y by NumPy's rule.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList sub_kernels;

}  // namespace neap::kernels
