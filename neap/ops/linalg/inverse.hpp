// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kInverse;

/// inverse, but nobody looks at the values: NaN where a is singular. What
/// derivative rules use.
NEAP_API Tensor inverse_unchecked(const Operand& a);
}  // namespace ops

/// The inverse of each matrix a (..., n, n), by elimination with partial
/// pivoting; f32, f64. For a^-1 b, solve is faster and closer. Outside host
/// memory the values are not looked at: a singular matrix gives NaN everywhere.
/// THROWS: ShapeError, DTypeError; ValueError that names the first singular
/// matrix (a pivot is exactly 0, or NaN).
NEAP_API Tensor inverse(const Operand& a);

}  // namespace neap
