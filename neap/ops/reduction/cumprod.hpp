// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Running products, and the linear recurrence that their derivatives are.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kCumprod;
NEAP_API extern const graph::Op kLinearScan;
}  // namespace ops

/// The running product along an axis, each element included: y_i = x_0 .. x_i,
/// or from the end, y_i = x_i .. x_n, where `reverse`. f32 and f64 in kind,
/// multiplied up in double; i32, i64, u8 and bool as i64 (wraps). The
/// derivative divides by nothing, and so holds where an element is 0. THROWS:
/// ShapeError for a bad axis.
NEAP_API Tensor cumprod(const TensorOperand& x, std::int64_t axis,
                        bool reverse = false);

/// The linear recurrence y_i = a_i y_(i-1) + b_i along an axis, with 0 before
/// the first, or from the end, y_i = a_i y_(i+1) + b_i, where `reverse`; f32,
/// f64, computed in double. It is the layer of linear state-space models (Gu
/// and Dao, "Mamba", 2023, section 3). THROWS: ShapeError unless a and b have
/// one shape, and for a bad axis; DTypeError.
NEAP_API Tensor linear_scan(const Operand& a, const Operand& b,
                            std::int64_t axis, bool reverse = false);

}  // namespace neap
