// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSub;
}  // namespace ops

/// a - b, broadcast; f32, f64, i32 (wraps), i64 (wraps).
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ. A number takes the tensor's dtype.
NEAP_API Tensor sub(const Operand& a, const Operand& b);

}  // namespace neap
