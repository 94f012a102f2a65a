// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// cumprod: y_i = x_0 .. x_i along an axis; from the end where `reverse` of
// CumulateAttrs says so.
//   in[0]  x  any strides: f32, f64 -> the same dtype;
//                          i32, i64, u8, bool -> i64 (wraps)
//   out[0] y  any strides, shape of x; may be x
// The running product of floats is a double, in plain index order; each element
// is rounded from it. Threads divide rows, never one product.
// linear_scan: y_i = a_i y_(i-1) + b_i, or y_i = a_i y_(i+1) + b_i, with 0
// before the first. Computed likewise, without fused multiply-add.
//   in[0]  a, in[1] b, out[0] y: f32, f64; one shape, any strides; y may be
//   either
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList cumprod_kernels;
extern const KernelList linear_scan_kernels;

}  // namespace neap::kernels
