// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The largest, or smallest, of elements that go to one place.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kScatterAmax;
NEAP_API extern const graph::Op kScatterAmin;
}  // namespace ops

/// x with element [index[i][j]][j] replaced by the largest, or smallest, of
/// itself and every src[i][j] that goes there, for axis 0, and so on; f32, f64,
/// i32 and i64. The operands are as scatter_add's. NaN stays NaN. Equal ones
/// share the derivative equally, that of x among them; an element that is NaN
/// has none. PyTorch's scatter_reduce with "amax" and "amin". THROWS: as
/// scatter_add.
NEAP_API Tensor scatter_amax(const Operand& x, std::int64_t axis,
                             const Operand& index, const Operand& src);
NEAP_API Tensor scatter_amin(const Operand& x, std::int64_t axis,
                             const Operand& index, const Operand& src);

}  // namespace neap
