// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLogicalAnd;
}  // namespace ops

/// A and b, broadcast; bool. Not differentiable.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when an operand
/// is not bool.
NEAP_API Tensor logical_and(const Operand& a, const Operand& b);

}  // namespace neap
