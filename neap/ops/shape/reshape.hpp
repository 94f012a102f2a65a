// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kReshape;
}  // namespace ops

/// The same elements in row-major order as another shape; one extent may be -1
/// and is then found from the others. A view where the layout allows it, else
/// a view of a dense copy. THROWS: ShapeError when the counts differ.
NEAP_API Tensor reshape(const Operand& x, const Shape& shape);

}  // namespace neap
