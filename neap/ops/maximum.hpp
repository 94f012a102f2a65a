// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kMaximum;
NEAP_API extern const graph::Op kMinimum;
}  // namespace ops

/// The larger, or the smaller, of a and b, broadcast; f32, f64, i32, i64. NaN
/// where either is, and then both get the derivative. Where they are equal each
/// gets half of it (as in PyTorch). THROWS: ShapeError when shapes do not
/// broadcast, DTypeError when dtypes differ. A number takes the tensor's dtype.
NEAP_API Tensor maximum(const Operand& a, const Operand& b);
NEAP_API Tensor minimum(const Operand& a, const Operand& b);

}  // namespace neap
