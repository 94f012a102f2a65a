// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kGather;

/// gather without a check of the indices, which must be in range.
Tensor gather_checked(const Operand& x, int axis, const Operand& index);
}  // namespace ops

/// y[i][j] = x[index[i][j]][j] for axis 0, and so on: y has the index's shape.
/// The index (i32, i64) has as many axes as x and is no longer than x along the
/// others; it has no derivative. dx adds up dy where an index repeats, in
/// row-major order.
/// THROWS: ShapeError; DTypeError; ValueError for an index outside [0, extent)
/// in host memory.
NEAP_API Tensor gather(const Operand& x, std::int64_t axis,
                       const Operand& index);

}  // namespace neap
