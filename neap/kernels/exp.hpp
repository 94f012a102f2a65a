// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// exp: y = e^x. No attributes. f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
// exp(inf) = inf, exp(-inf) = 0, exp(NaN) = NaN.
#pragma once

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

extern const KernelList exp_kernels;

}  // namespace neap::kernels
