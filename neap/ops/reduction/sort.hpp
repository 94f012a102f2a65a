// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSort;
NEAP_API extern const graph::Op kTopk;
}  // namespace ops

/// Elements, and their positions along the axis they were chosen from (i64).
struct ValuesAndIndices {
  Tensor values;
  Tensor indices;
};

/// The elements along an axis in increasing or decreasing order; f32, f64, i32,
/// i64. Equal ones keep their order (it is stable both ways); NaN counts as
/// greater than every number. The derivative goes back to where an element
/// came from. THROWS: ShapeError for a bad axis; ValueError for 2^32 elements
/// along it.
NEAP_API ValuesAndIndices sort(const TensorOperand& x, std::int64_t axis = -1,
                               bool descending = false);

/// The positions alone.
NEAP_API Tensor argsort(const TensorOperand& x, std::int64_t axis = -1,
                        bool descending = false);

/// The k largest, or smallest, elements along an axis, in order, the largest or
/// smallest first; of equal ones the first. Otherwise as sort. THROWS:
/// ValueError unless 0 <= k <= the extent.
NEAP_API ValuesAndIndices topk(const TensorOperand& x, std::int64_t k,
                               std::int64_t axis = -1, bool largest = true);

}  // namespace neap
