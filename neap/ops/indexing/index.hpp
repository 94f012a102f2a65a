// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Parts of axes by index tensors.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {

/// index_select without a check of the indices, which must be in range.
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
                          Number alpha = 1.0);
/// The same in x's own memory; src is a tensor. THROWS: as index_add;
/// GraphError and ShapeError as compute_into. x is then as before.
NEAP_API void index_add_(const Tensor& x, std::int64_t axis,
                         const Tensor& index, const Tensor& src,
                         Number alpha = 1.0, CallSite site = CallSite::here());

/// x[i, j, ..], as NumPy's and PyTorch's: one index tensor (i32, i64) for each
/// of the leading axes of x, broadcast together. y has their shape, followed by
/// x's further axes. A negative index counts from the end. dx adds up dy where
/// a position is named twice.
/// THROWS: ShapeError where they do not broadcast or are too many; DTypeError;
/// ValueError for an index outside of an axis in host memory.
NEAP_API Tensor index(const TensorOperand& x, std::span<const Tensor> indices);
NEAP_API Tensor index(const TensorOperand& x,
                      std::initializer_list<Tensor> indices);

/// The elements of x, taken as one line in row-major order, at `index` (i32,
/// i64), whose shape y has. A negative index counts from the end. THROWS: as
/// above.
NEAP_API Tensor take(const Operand& x, const Operand& index);

}  // namespace neap
