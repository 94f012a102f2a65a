// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Linear systems and inverses.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kTriangularSolve;
NEAP_API extern const graph::Op kSolve;
NEAP_API extern const graph::Op kInverse;
/// solve for b (..., n, k) without a check of the values, for derivative rules:
/// NaN where a is singular.
NEAP_API Tensor solve_unchecked(const Operand& a, const Operand& b);
}  // namespace ops

/// The x with a x = b, by elimination with partial pivoting, for each matrix a
/// (..., n, n) and b (..., n, k); leading axes broadcast; f32, f64. A b of
/// shape (n), or of a's without the last axis, is vectors, and so is x. Outside
/// host memory the values are not looked at: a singular matrix gives NaN in all
/// of its x. THROWS: ShapeError, DTypeError; ValueError that names the first
/// singular matrix (a pivot is exactly 0, or NaN).
NEAP_API Tensor solve(const Operand& a, const Operand& b);

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

namespace ops {
/// inverse without a check of the values, for derivative rules: NaN where a is
/// singular.
NEAP_API Tensor inverse_unchecked(const Operand& a);
}  // namespace ops

/// The inverse of each matrix a (..., n, n), by elimination with partial
/// pivoting; f32, f64. For a^-1 b, solve is faster and closer. Outside host
/// memory the values are not looked at: a singular matrix gives NaN everywhere.
/// THROWS: ShapeError, DTypeError; ValueError that names the first singular
/// matrix (a pivot is exactly 0, or NaN).
NEAP_API Tensor inverse(const TensorOperand& a);

}  // namespace neap
