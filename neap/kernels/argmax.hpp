// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// argmax: y = index of the largest x along AxisAttrs::axis. f32, f64, i32, i64.
//   in[0]  x  any strides
//   out[0] y  i64, the shape of x without the axis, or with extent 1 there
// The first of equals; NaN counts as the largest, and the first NaN wins.
// REQUIRES: the axis has at least one element.
#pragma once

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

extern const KernelList argmax_kernels;

}  // namespace neap::kernels
