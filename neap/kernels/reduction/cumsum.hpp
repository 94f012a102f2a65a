// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// cumsum: y_i = x_0 + .. + x_i along an axis; from the end where `reverse` of
// CumulateAttrs says so.
//   in[0]  x  any strides: f32, f64 -> the same dtype;
//                          i32, i64, u8, bool -> i64 (wraps)
//   out[0] y  any strides, shape of x; may be x
// The running sum of floats is a double, in plain index order; each element is
// rounded from it. Threads divide rows and columns, never one sum.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList cumsum_kernels;

}  // namespace neap::kernels
