// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLogicalXor;
}  // namespace ops

/// A or b, but not both, broadcast; bool. Not differentiable.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when an operand
/// is not bool.
NEAP_API Tensor logical_xor(const Operand& a, const Operand& b);

}  // namespace neap
