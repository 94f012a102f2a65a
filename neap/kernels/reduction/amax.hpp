// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// amax, amin: y = the largest, or the smallest, x over some axes. ReduceAttrs:
// bit i of `axes` says that axis i is reduced; the output keeps it with extent
// 1. f32, f64, i32, i64, u8, bool (where they are "any" and "all").
//   in[0]  x  any strides
//   out[0] y  any strides, rank and dtype of x
// NaN where any element is NaN. REQUIRES: at least one element for each output,
// but for bool (fewer give the neutral element: -inf, false, ...).
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList amax_kernels;
extern const KernelList amin_kernels;

}  // namespace neap::kernels
