// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
/// index_select without a look at the indices, which must be in range.
Tensor select_checked(const Operand& x, int axis, const Tensor& index);
}  // namespace ops

/// The parts of x at positions index[0], index[1], .. of one axis, one after
/// the other: y has as many there as `index` (n), i32 or i64. Any dtype of x.
/// THROWS: ShapeError; DTypeError; ValueError for an index outside [0, extent)
/// in host memory.
NEAP_API Tensor index_select(const Operand& x, std::int64_t axis,
                             const Operand& index);

/// x with alpha src[.., i, ..] added to its part at position index[i] of one
/// axis; index (n) i32 or i64, src like x but for n along the axis. f32, f64,
/// i32, i64. What goes to the same place is added in order of i.
/// THROWS: as index_select.
NEAP_API Tensor index_add(const Operand& x, std::int64_t axis,
                          const Operand& index, const Operand& src,
                          double alpha = 1.0);

}  // namespace neap
