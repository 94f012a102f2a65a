// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// norm: y = the p-norm of x over some axes, for p of 0 (how many are not zero),
// 1, 2, inf (the largest |x|) and -inf (the smallest). NormAttrs: bit i of
// `axes` says that axis i is reduced; the output keeps it with extent 1. f32,
// f64.
//   in[0]  x  any strides
//   out[0] y  any strides, rank and dtype of x
// Squares of f32 are added in double, so that they neither overflow nor vanish.
// Order: reduce.hpp. Of nothing 0 (inf where p is -inf).
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList norm_kernels;

}  // namespace neap::kernels
