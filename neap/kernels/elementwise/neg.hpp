// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// neg: y = -x. No attributes. f32, f64, i32, i64 (integers wrap).
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList neg_kernels;

}  // namespace neap::kernels
