// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// prod: y = product of x over some axes. ReduceAttrs: bit i of `axes` says
// that axis i is reduced; the output keeps it with extent 1.
//   in[0]  x  any strides: f32, f64 -> the same dtype;
//                          i32, i64, u8, bool -> i64 (wraps)
//   out[0] y  any strides, rank of x
// Of no element 1. Order of multiplication: reduce.hpp.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList prod_kernels;

}  // namespace neap::kernels
