// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kCholesky;
}  // namespace ops

/// The lower triangular L with L L^T = (a + a^T) / 2 and a positive diagonal,
/// for each matrix a (..., n, n); f32, f64. Of a symmetric matrix this is its
/// Cholesky factor; of another, that of its symmetric part, so that the
/// derivative is symmetric. Outside host memory the values are not looked at: a
/// matrix that is not positive definite gives NaN in all of L.
/// THROWS: ShapeError, DTypeError; ValueError that names the first matrix which
/// is not positive definite.
NEAP_API Tensor cholesky(const TensorOperand& a);

}  // namespace neap
