// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/ops/reduction/sort.hpp"

namespace neap {

/// The largest, or smallest, element along an axis and its position, the first
/// of equal ones, the first NaN where there is one; f32, f64, i32, i64. The
/// derivative goes to that one element (amax, amin share it among equal ones).
/// THROWS: ShapeError for a bad axis; ValueError when the axis is empty.
NEAP_API ValuesAndIndices max(const Operand& x, std::int64_t axis,
                              bool keepdim = false);
NEAP_API ValuesAndIndices min(const Operand& x, std::int64_t axis,
                              bool keepdim = false);

}  // namespace neap
