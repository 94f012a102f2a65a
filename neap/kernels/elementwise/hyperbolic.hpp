// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sinh, cosh and the inverses asinh, acosh (NaN below 1), atanh (NaN beyond
// [-1, 1]). No attributes. f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList acosh_kernels;
extern const KernelList asinh_kernels;
extern const KernelList atanh_kernels;
extern const KernelList cosh_kernels;
extern const KernelList sinh_kernels;

}  // namespace neap::kernels
