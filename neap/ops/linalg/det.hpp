// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kDet;
}  // namespace ops

/// The determinant of each matrix a (..., n, n), by elimination with partial
/// pivoting; f32, f64. 1 where n is 0. The derivative is det(a) a^-T, NaN
/// for a singular matrix. Overflows early: slogdet does not.
/// THROWS: ShapeError, DTypeError.
NEAP_API Tensor det(const Operand& a);

}  // namespace neap
