// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sin, cos, tan: x in radians, of any size; NaN for infinities. No attributes.
// f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList cos_kernels;
extern const KernelList sin_kernels;
extern const KernelList tan_kernels;

}  // namespace neap::kernels
