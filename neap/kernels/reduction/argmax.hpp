// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// argmax, argmin: the position of the largest, or smallest, element along some
// axes: its index in the list of reduce.hpp (along one axis: its coordinate).
// ReduceAttrs: bit i of `axes` says that axis i is reduced; the output keeps it
// with extent 1. f32, f64, i32, i64, u8, bool.
//   in[0]  x  any strides
//   out[0] y  i64, any strides, rank of x
// The first of equal elements; the first NaN where there is one. REQUIRES: at
// least one element for each output.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList argmax_kernels;
extern const KernelList argmin_kernels;

}  // namespace neap::kernels
