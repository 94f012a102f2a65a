// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// reciprocal: y = 1 / x. No attributes. f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
// Correctly rounded.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList reciprocal_kernels;

}  // namespace neap::kernels
