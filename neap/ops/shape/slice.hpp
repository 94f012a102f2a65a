// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "neap/graph/recorder.hpp"
#include "neap/kernels/engine/attrs.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSlice;

/// The elements that `attrs` names, all of them in x.
Tensor slice_of(const Operand& x, const kernels::SliceAttrs& attrs);
}  // namespace ops

/// Stands for the end of an axis, whatever its extent.
inline constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

/// A view of elements start, start + step, ... before stop of one axis. As in
/// Python, negative positions count from the end and both are cut to the axis.
/// THROWS: ShapeError for a bad axis, ValueError unless step > 0.
NEAP_API Tensor slice(const Operand& x, std::int64_t axis, std::int64_t start,
                      std::int64_t stop = kEnd, std::int64_t step = 1);

}  // namespace neap
