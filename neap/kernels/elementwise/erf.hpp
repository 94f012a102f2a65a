// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// erf: y = 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x; erfc: 1 - erf
// x without cancellation; gaussian: y = e^-x^2. No attributes. f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList erf_kernels;
extern const KernelList erfc_kernels;
extern const KernelList gaussian_kernels;

}  // namespace neap::kernels
