// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSearchsorted;
}  // namespace ops

/// The place of each value in a row that is sorted: how many elements of it are
/// less or, where `right`, no greater, so that putting the value there keeps
/// the row sorted. `sorted` (..., n) and values (..., m) agree in all other
/// axes, or `sorted` is one row (n) for all; f32, f64, i32, i64. The result is
/// i64. NaN is greater than every number. Rows that are not sorted give places
/// in [0, n] all the same. THROWS: ShapeError; DTypeError unless both have one
/// dtype.
NEAP_API Tensor searchsorted(const Operand& sorted, const Operand& values,
                             bool right = false);

}  // namespace neap
