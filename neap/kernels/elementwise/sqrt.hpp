// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sqrt: y = sqrt x; rsqrt: y = 1 / sqrt x. NaN below 0. No attributes. f32,
// f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList rsqrt_kernels;
extern const KernelList sqrt_kernels;

}  // namespace neap::kernels
