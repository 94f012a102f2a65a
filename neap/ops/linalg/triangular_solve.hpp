// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kTriangularSolve;
}  // namespace ops

struct TriangleOptions {
  bool upper = false;      // A is the upper triangle of a, not the lower
  bool transpose = false;  // solve with A^T
  bool unit = false;       // A has ones on the diagonal, which is not read
};

/// The x with A x = b, for the triangle A of each matrix a (..., n, n), of
/// which nothing else is read, and b (..., n, k); leading axes broadcast; f32,
/// f64. A zero on the diagonal gives infinities or NaN. THROWS: ShapeError,
/// DTypeError.
NEAP_API Tensor triangular_solve(const Operand& a, const Operand& b,
                                 const TriangleOptions& options = {});

}  // namespace neap
