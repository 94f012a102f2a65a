// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Products of matrices and vectors.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kMatmul;
NEAP_API extern const graph::Op kMatmulAdd;
}  // namespace ops

/// The matrix product over the last two axes, leading axes broadcast; f32, f64.
/// Products of f32 are computed in current_precision() (precision.hpp). A
/// rank-1 operand is a row (left) or a column (right), and the axis that this
/// adds is removed again, as in NumPy. b may be a constant in bf16, as w of
/// linear. THROWS: ShapeError when extents do not fit or an operand has rank 0;
/// DTypeError.
NEAP_API Tensor matmul(const Operand& a, const Operand& b);

namespace ops {

/// c + a b over the last two axes, into c's memory where it may be taken over:
/// a product added to a sum without memory or a pass of its own. c has the
/// shape of the result; the leading axes of a and b broadcast to its; f32, f64,
/// and b as in matmul.
/// THROWS: ShapeError, DTypeError.
NEAP_API Tensor matmul_add(const Operand& c, const Operand& a,
                           const Operand& b);

}  // namespace ops

/// The sum of a_i b_i of two vectors (n), a number of rank 0; f32, f64.
/// THROWS: ShapeError unless two vectors of one length; DTypeError.
NEAP_API Tensor dot(const Operand& a, const Operand& b);

/// The products a_i b_j of two vectors (m) and (n), as (m, n); dtypes as mul.
/// THROWS: ShapeError unless two vectors; DTypeError.
NEAP_API Tensor outer(const Operand& a, const Operand& b);

}  // namespace neap
