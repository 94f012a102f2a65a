// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kMatmul;
}  // namespace ops

/// The matrix product over the last two axes, leading axes broadcast; f32, f64.
/// Of f32 in the precision that is current (precision.hpp).
/// As in NumPy, a rank-1 operand is a row (left) or a column (right), and the
/// axis that this adds goes again.
/// THROWS: ShapeError when extents do not fit or an operand has rank 0.
NEAP_API Tensor matmul(const Operand& a, const Operand& b);

}  // namespace neap
