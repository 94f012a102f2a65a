// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// exp: y = e^x; expm1: y = e^x - 1, exact near 0 too. No attributes. f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList exp_kernels;
extern const KernelList expm1_kernels;

}  // namespace neap::kernels
