// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Parts of one axis, and the two ops behind slice and its derivative.
#pragma once

#include <limits>

#include "neap/graph/recorder.hpp"
#include "neap/kernels/engine/attrs.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSlice;
NEAP_API extern const graph::Op kSlicePut;
NEAP_API extern const graph::Op kSliceAdd;
/// The elements that `attrs` names, all of them in x.
Tensor slice_of(const Operand& x, const kernels::SliceAttrs& attrs);
}  // namespace ops

/// Stands for the end of an axis, whatever its extent.
inline constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

/// A view of elements start, start + step, ... before stop of one axis. As in
/// Python, negative positions count from the end and both are cut to the axis.
/// THROWS: ShapeError for a bad axis, ValueError unless step > 0.
NEAP_API Tensor slice(const TensorOperand& x, std::int64_t axis,
                      std::int64_t start, std::int64_t stop = kEnd,
                      std::int64_t step = 1);

namespace ops {
/// Zeros of extent attrs.extent along attrs.axis, with g at the elements that
/// `attrs` names: the cotangent of slice. f32, f64.
NEAP_API Tensor slice_put(const Operand& g, const kernels::SliceAttrs& attrs);

/// x with g added to the elements that `attrs` names. f32, f64, i32, i64.
NEAP_API Tensor slice_add(const Operand& x, const Operand& g,
                          const kernels::SliceAttrs& attrs);

}  // namespace ops

}  // namespace neap
