// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Kernels by P a = L U, Gaussian elimination with partial pivoting: solve,
// inverse, det and slogdet. f32, f64. No attributes. A matrix is taken for
// singular where a pivot is exactly 0, and a NaN in it counts as one.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// x = a^-1 b; NaN everywhere where a is singular.
///   in[0]  a  (..., n, n)  any strides
///   in[1]  b  (..., n, k)  any strides
///   out[0] x  (..., n, k)  dense row-major
/// The leading axes of a and b broadcast to those of x.
extern const KernelList solve_kernels;

/// y = a^-1; NaN everywhere where a is singular.
///   in[0]  a  (..., n, n)  any strides
///   out[0] y  (..., n, n)  dense row-major; may be a
extern const KernelList inverse_kernels;

/// The determinant: 0 of a singular matrix, NaN of one with a NaN.
///   in[0]  a  (..., n, n)  any strides
///   out[0] y  (...)        dense
extern const KernelList det_kernels;

/// Its sign, and the logarithm of its absolute value: 0 and -infinity of a
/// singular matrix, NaN and NaN of one with a NaN.
///   in[0]  a     (..., n, n)  any strides
///   out[0] sign  (...)        dense
///   out[1] log   (...)        dense
extern const KernelList slogdet_kernels;

}  // namespace neap::kernels
