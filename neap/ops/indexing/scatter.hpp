// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kScatter;

/// scatter without a look at the indices, which must be in range; src has the
/// index's shape.
Tensor scatter_checked(const Operand& x, int axis, const Operand& index,
                       const Operand& src);
}  // namespace ops

/// x with element [index[i][j]][j] replaced by src[i][j] for axis 0, and so on.
/// The index (i32, i64) has as many axes as x and src and is no longer than
/// they are, but for x along the axis; what src has beyond it is not used. A
/// number stands for itself everywhere. Where an index repeats, the last
/// element in row-major order stays, and it alone has a derivative.
/// THROWS: ShapeError; DTypeError; ValueError for an index outside [0, extent)
/// in host memory.
NEAP_API Tensor scatter(const Operand& x, std::int64_t axis,
                        const Operand& index, const Operand& src);

}  // namespace neap
