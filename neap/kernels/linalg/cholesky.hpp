// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// cholesky: L L^T = (a + a^T) / 2, L lower triangular with a positive diagonal.
// f32, f64. No attributes.
//   in[0]  a  (..., n, n)  any strides
//   out[0] l  (..., n, n)  dense row-major; may be a
// A matrix whose symmetric part is not positive definite gives NaN everywhere.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList cholesky_kernels;

}  // namespace neap::kernels
