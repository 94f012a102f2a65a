// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLt;
}  // namespace ops

/// a < b as bool, broadcast; any one dtype. Not differentiable.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ. A number takes the tensor's dtype.
NEAP_API Tensor lt(const Operand& a, const Operand& b);

}  // namespace neap
