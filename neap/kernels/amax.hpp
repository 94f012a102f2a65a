// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// amax: y = the largest x over some axes. ReduceAttrs: bit i of
// `axes` says that axis i is reduced; the output keeps it with extent 1.
// f32, f64, i32, i64, u8.
//   in[0]  x  any strides
//   out[0] y  any strides, rank and dtype of x
// NaN where any element is NaN. REQUIRES: at least one element for each output
// (fewer give -inf or the smallest integer).
#pragma once

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

extern const KernelList amax_kernels;

}  // namespace neap::kernels
