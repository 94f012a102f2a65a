// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// triangular_solve: x = op(A)^-1 b, with TriangleAttrs. f32, f64.
//   in[0]  a  (..., n, n)  any strides; one triangle is read
//   in[1]  b  (..., n, k)  any strides
//   out[0] x  (..., n, k)  dense row-major; may be b
// The leading axes of a and b broadcast to those of x. A zero on the diagonal
// gives infinities or NaN.
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

struct TriangleAttrs {
  bool upper = false;      // which triangle of a is A
  bool transpose = false;  // op(A) = A^T
  bool unit = false;       // A has ones on the diagonal, which is not read
  std::array<bool, 5> padding{};
};

extern const KernelList triangular_solve_kernels;

}  // namespace neap::kernels
