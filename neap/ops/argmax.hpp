// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
extern const graph::Op kArgmax;
}  // namespace ops

/// Position of the largest element along an axis, the first one of equal ones,
/// as i64; f32, f64, i32, i64. Not differentiable.
/// THROWS: ShapeError for a bad axis; ValueError when the axis is empty.
NEAP_API Tensor argmax(const Operand& x, std::int64_t axis,
                       bool keepdim = false);

}  // namespace neap
