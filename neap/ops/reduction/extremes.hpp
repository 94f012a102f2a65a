// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The largest and the smallest elements along axes, and their positions.
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/ops/reduction/sort.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kArgmax;
NEAP_API extern const graph::Op kArgmin;
NEAP_API extern const graph::Op kAmax;
NEAP_API extern const graph::Op kAmin;
/// Over the axes of a mask (bit i: axis i); they stay, with extent 1.
NEAP_API Tensor amax_axes(const Operand& x, std::uint64_t axes);
NEAP_API Tensor amin_axes(const Operand& x, std::uint64_t axes);
}  // namespace ops

/// The largest, or the smallest, element over some axes, or over all; f32,
/// f64, i32, i64, u8, bool (of no element false, or true). NaN where there is
/// one. Equal ones share the derivative equally. THROWS: ShapeError for a bad
/// axis; ValueError where there is no element.
NEAP_API Tensor amax(const TensorOperand& x);
NEAP_API Tensor amax(const TensorOperand& x, const Shape& axes,
                     bool keepdim = false);
NEAP_API Tensor amin(const TensorOperand& x);
NEAP_API Tensor amin(const TensorOperand& x, const Shape& axes,
                     bool keepdim = false);

/// The largest, or smallest, element along an axis and its position, the first
/// of equal ones, the first NaN where there is one; f32, f64, i32, i64. The
/// derivative goes to that one element (amax, amin share it among equal ones).
/// THROWS: ShapeError for a bad axis; ValueError when the axis is empty.
NEAP_API ValuesAndIndices max(const TensorOperand& x, std::int64_t axis,
                              bool keepdim = false);
NEAP_API ValuesAndIndices min(const TensorOperand& x, std::int64_t axis,
                              bool keepdim = false);

/// Position of the largest, or smallest, element along an axis, or in the
/// tensor as a whole (its row-major index), the first one of equal ones, as
/// i64; f32, f64, i32, i64, u8, bool. The first NaN where there is one. Not
/// differentiable. THROWS: ShapeError for a bad axis; ValueError when there is
/// no element.
NEAP_API Tensor argmax(const TensorOperand& x);
NEAP_API Tensor argmax(const TensorOperand& x, std::int64_t axis,
                       bool keepdim = false);
NEAP_API Tensor argmin(const TensorOperand& x);
NEAP_API Tensor argmin(const TensorOperand& x, std::int64_t axis,
                       bool keepdim = false);

}  // namespace neap
