// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSolve;

/// solve for b (..., n, k), whose values nobody looks at: NaN where a is
/// singular. What derivative rules use.
NEAP_API Tensor solve_unchecked(const Operand& a, const Operand& b);
}  // namespace ops

/// The x with a x = b, by elimination with partial pivoting, for each matrix a
/// (..., n, n) and b (..., n, k); leading axes broadcast; f32, f64. A b of
/// shape (n), or of a's without the last axis, is vectors, and so is x. Outside
/// host memory the values are not looked at: a singular matrix gives NaN in all
/// of its x. THROWS: ShapeError, DTypeError; ValueError that names the first
/// singular matrix (a pivot is exactly 0, or NaN).
NEAP_API Tensor solve(const Operand& a, const Operand& b);

}  // namespace neap
