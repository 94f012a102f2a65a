// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// searchsorted: where each value falls in a sorted row. NaN stands behind all
// numbers, as sort puts it.
//   in[0]  sorted  (..., n)  f32, f64, i32, i64; any strides; or (n)
//   in[1]  values  (..., m)  dtype of sorted, any strides
//   out[0] y       (..., m)  i64, any strides: how many of the row are less
//                            than the value or, where `right` of SearchAttrs,
//                            no greater
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList searchsorted_kernels;

}  // namespace neap::kernels
