// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sum_of_squares: y = sum of x x over all of x. No attributes. f32, f64.
//   in[0]  x  (...)  any strides
//   out[0] y  f64, one element (rank 0 or all extents 1)
// Squares and sums are in double. Order: reduce.hpp, all axes reduced.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList sum_of_squares_kernels;

}  // namespace neap::kernels
