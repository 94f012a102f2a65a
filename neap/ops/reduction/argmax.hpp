// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kArgmax;
NEAP_API extern const graph::Op kArgmin;
}  // namespace ops

/// Position of the largest, or smallest, element along an axis, or in the
/// tensor as a whole (its row-major index), the first one of equal ones, as
/// i64; f32, f64, i32, i64, u8, bool. The first NaN where there is one. Not
/// differentiable. THROWS: ShapeError for a bad axis; ValueError when there is
/// no element.
NEAP_API Tensor argmax(const Operand& x);
NEAP_API Tensor argmax(const Operand& x, std::int64_t axis,
                       bool keepdim = false);
NEAP_API Tensor argmin(const Operand& x);
NEAP_API Tensor argmin(const Operand& x, std::int64_t axis,
                       bool keepdim = false);

}  // namespace neap
