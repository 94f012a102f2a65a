// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sign: y = -1, 0 or 1. No attributes. f32, f64, i32, i64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
// sign(NaN) = NaN; sign(-0) = 0.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList sign_kernels;

}  // namespace neap::kernels
