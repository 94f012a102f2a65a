// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kDiv;
}  // namespace ops

/// a / b, broadcast; f32, f64.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ. A number takes the tensor's dtype.
NEAP_API Tensor div(const Operand& a, const Operand& b);

}  // namespace neap
