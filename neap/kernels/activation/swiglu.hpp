// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// swiglu: y = silu(a) b, silu(a) = a / (1 + e^-a). No attributes; f32, f64.
//   in[0]  a  (...)  any strides
//   in[1]  b  (...)  any strides
//   out[0] y  (...)  any strides, may be a or b where shaped as y
// a and b broadcast to y by NumPy's rule.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList swiglu_kernels;

}  // namespace neap::kernels
