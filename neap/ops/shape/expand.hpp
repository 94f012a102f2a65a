// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kExpand;
}  // namespace ops

/// A view broadcast to `shape` (stride 0 along stretched axes); x itself where
/// it has that shape. THROWS: ShapeError when x does not broadcast to it.
NEAP_API Tensor expand(const Operand& x, const Shape& shape);

}  // namespace neap
