// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
extern const graph::Op kAmax;
}  // namespace ops

/// The largest element over some axes, or over all; f32, f64, i32, i64,
/// u8. NaN where there is one. Equal largest elements share the derivative
/// equally. THROWS: ShapeError for a bad axis; ValueError where there is no
/// element.
NEAP_API Tensor amax(const Operand& x);
NEAP_API Tensor amax(const Operand& x, const Shape& axes, bool keepdim = false);

}  // namespace neap
