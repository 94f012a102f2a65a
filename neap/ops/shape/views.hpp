// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The same elements in another shape or order of axes: views where the layout
// allows it. The layouts of views are in tensor/layout.hpp.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kReshape;
NEAP_API extern const graph::Op kExpand;
NEAP_API extern const graph::Op kPermute;
NEAP_API extern const graph::Op kCopy;
}  // namespace ops

/// The same elements in row-major order as another shape; one extent may be -1
/// and is then found from the others. A view where the layout allows it, else
/// a view of a dense copy. THROWS: ShapeError when the counts differ.
NEAP_API Tensor reshape(const TensorOperand& x, const Shape& shape);

/// A view with a new axis of extent 1 before position `axis` (-1: at the end).
/// THROWS: ShapeError for a bad axis or beyond kMaxRank axes.
NEAP_API Tensor unsqueeze(const TensorOperand& x, std::int64_t axis);

/// A view without an axis of extent 1, or without all of them.
/// THROWS: ShapeError when the axis has another extent.
NEAP_API Tensor squeeze(const TensorOperand& x);
NEAP_API Tensor squeeze(const TensorOperand& x, std::int64_t axis);

/// Axes first to last (both included) as one; a view where the layout allows
/// it. Rank 0 becomes rank 1.
NEAP_API Tensor flatten(const TensorOperand& x, std::int64_t first = 0,
                        std::int64_t last = -1);

/// A view broadcast to `shape` (stride 0 along stretched axes); x itself where
/// it has that shape. THROWS: ShapeError when x does not broadcast to it.
NEAP_API Tensor expand(const TensorOperand& x, const Shape& shape);

/// A view with the axes in another order: order[i] becomes axis i; negative
/// axes count from the end. THROWS: ShapeError unless a permutation.
NEAP_API Tensor permute(const TensorOperand& x, const Shape& order);

/// A view with two axes exchanged; negative axes count from the end.
/// THROWS: ShapeError for a bad axis.
NEAP_API Tensor transpose(const TensorOperand& x, std::int64_t a = -2,
                          std::int64_t b = -1);

/// A view of `length` elements of one axis from `start` (negative: from the
/// end). THROWS: ShapeError unless they all exist.
NEAP_API Tensor narrow(const TensorOperand& x, std::int64_t axis,
                       std::int64_t start, std::int64_t length);

/// A view of one position of an axis (negative: from the end); the axis goes.
/// THROWS: ShapeError when out of range.
NEAP_API Tensor select(const TensorOperand& x, std::int64_t axis,
                       std::int64_t position);

/// x itself where it is dense in row-major order, else a dense copy.
NEAP_API Tensor contiguous(const TensorOperand& x);

/// A dense copy in new storage of the same space; any dtype.
NEAP_API Tensor copy(const TensorOperand& x);

}  // namespace neap
