// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// log: y = ln x. No attributes. f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
// log(0) = -inf; NaN for x < 0.
#pragma once

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

extern const KernelList log_kernels;

}  // namespace neap::kernels
