// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Determinants.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kDet;
NEAP_API extern const graph::Op kSlogdet;
}  // namespace ops

/// The determinant of each matrix a (..., n, n), by elimination with partial
/// pivoting; f32, f64. 1 where n is 0. The derivative is det(a) a^-T, NaN
/// for a singular matrix. Overflows early: slogdet does not.
/// THROWS: ShapeError, DTypeError.
NEAP_API Tensor det(const TensorOperand& a);

struct Slogdet {
  Tensor sign;       // -1, 0 or 1, without derivative; (...)
  Tensor logabsdet;  // (...)
};

/// The sign of the determinant of each matrix a (..., n, n) and the logarithm
/// of its absolute value, by elimination with partial pivoting; f32, f64. 0 and
/// -infinity of a singular matrix, NaN with a NaN, 1 and 0 where n is 0. The
/// derivative of logabsdet is a^-T, NaN for a singular matrix.
/// THROWS: ShapeError, DTypeError.
NEAP_API Slogdet slogdet(const TensorOperand& a);

/// The logarithm of the determinant: NaN where that is negative, -infinity
/// where it is 0. As slogdet.
NEAP_API Tensor logdet(const TensorOperand& a);

}  // namespace neap
