// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sort, topk: the elements along an axis in order, and where they stood.
// SortAttrs: topk puts out the first `count` of them. f32, f64, i32, i64.
//   in[0]  x        any strides
//   out[0] values   any strides, rank and dtype of x
//   out[1] indices  i64, any strides, shape of values
// Equal elements (0 and -0 too) keep their order; NaN is greater than every
// number. Scratch holds the keys of one row for each thread. REQUIRES: fewer
// than 2^32 elements along the axis.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList sort_kernels;
extern const KernelList topk_kernels;

}  // namespace neap::kernels
