// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kMul;
}  // namespace ops

/// a * b element by element, broadcast; f32, f64, i32 (wraps), i64 (wraps).
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ. A number takes the tensor's dtype.
NEAP_API Tensor mul(const Operand& a, const Operand& b);

}  // namespace neap
