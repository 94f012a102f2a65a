// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// x[i, j, ..], as NumPy's and PyTorch's: one index tensor (i32, i64) for each
/// of the leading axes of x, broadcast together. y has their shape, followed by
/// x's further axes. A negative index counts from the end. dx adds up dy where
/// a place is named twice.
/// THROWS: ShapeError where they do not broadcast or are too many; DTypeError;
/// ValueError for an index outside of an axis in host memory.
NEAP_API Tensor index(const Operand& x, std::span<const Tensor> indices);
NEAP_API Tensor index(const Operand& x, std::initializer_list<Tensor> indices);

/// The elements of x, taken as one line in row-major order, at `index` (i32,
/// i64), whose shape y has. A negative index counts from the end. THROWS: as
/// above.
NEAP_API Tensor take(const Operand& x, const Operand& index);

}  // namespace neap
