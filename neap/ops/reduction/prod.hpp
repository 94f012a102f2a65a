// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kProd;
}  // namespace ops

/// The product over some axes (negative ones count from the end), or over all:
/// f32 and f64 in kind, i32, i64, u8 and bool as i64 (wraps). Each axis is
/// removed, or stays with extent 1 where keepdim. The product of nothing is 1.
/// The derivative is exact where elements are zero, to any order. THROWS:
/// ShapeError for an axis that is out of range or named twice.
NEAP_API Tensor prod(const TensorOperand& x);
NEAP_API Tensor prod(const TensorOperand& x, const Shape& axes,
                     bool keepdim = false);

}  // namespace neap
