// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// log: y = ln x; log10, log2: to bases 10 and 2, exact where y is a whole
// number; log1p: y = ln(1 + x), exact near 0 too. -infinity at the pole, NaN
// below it. No attributes. f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList log_kernels;
extern const KernelList log10_kernels;
extern const KernelList log1p_kernels;
extern const KernelList log2_kernels;

}  // namespace neap::kernels
