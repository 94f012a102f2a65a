// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sums and means over axes.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSumOfSquares;
NEAP_API extern const graph::Op kSum;
/// Sums over the axes of a mask (bit i: axis i); they stay, with extent 1.
NEAP_API Tensor sum_axes(const Operand& x, std::uint64_t axes);
}  // namespace ops

/// The sum over some axes (negative ones count from the end), or over all: f32
/// and f64 in kind, i32, i64, u8 and bool as i64 (wraps). Each axis is removed,
/// or stays with extent 1 where keepdim. The sum of nothing is 0. THROWS:
/// ShapeError for an axis that is out of range or named twice.
NEAP_API Tensor sum(const TensorOperand& x);
NEAP_API Tensor sum(const TensorOperand& x, const Shape& axes,
                    bool keepdim = false);

/// The mean over some axes, or over all; f32, f64. As sum(x, axes, keepdim);
/// the mean of nothing is NaN.
NEAP_API Tensor mean(const TensorOperand& x);
NEAP_API Tensor mean(const TensorOperand& x, const Shape& axes,
                     bool keepdim = false);

/// Sum of the squares of all elements, rank 0, in f64; x f32 or f64.
NEAP_API Tensor sum_of_squares(const TensorOperand& x);

}  // namespace neap
