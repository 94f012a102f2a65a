// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kScatterAdd;

/// scatter_add without a look at the indices, which must be in range; src has
/// the index's shape.
Tensor scatter_add_checked(const Operand& x, int axis, const Operand& index,
                           const Operand& src);
}  // namespace ops

/// x with src[i][j] added to element [index[i][j]][j] for axis 0, and so on;
/// f32, f64, i32 and i64. The index (i32, i64) has as many axes as x and src
/// and is no longer than they are, but for x along the axis; what src has
/// beyond it is not used. Elements that go to the same place are added in
/// row-major order, one after the other, so that the sum's bits never vary.
/// THROWS: ShapeError; DTypeError; ValueError for an index outside [0, extent)
/// in host memory.
NEAP_API Tensor scatter_add(const Operand& x, std::int64_t axis,
                            const Operand& index, const Operand& src);

}  // namespace neap
