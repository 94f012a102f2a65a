// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// logsumexp: y = ln sum e^x over some axes. ReduceAttrs: bit i of `axes` says
// that axis i is reduced; the output keeps it with extent 1. f32, f64.
//   in[0]  x  any strides
//   out[0] y  any strides, rank and dtype of x
// One pass over memory: blocks (of a column 64 elements) have their own largest
// element m and sum of e^(x - m), and are joined in double in order. Where all
// are -inf, or there are none, -inf; where one is inf, inf; NaN where one is.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList logsumexp_kernels;

}  // namespace neap::kernels
