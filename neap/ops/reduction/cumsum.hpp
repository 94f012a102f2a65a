// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kCumsum;
}  // namespace ops

/// The running sum along an axis, each element included: y_i = x_0 + .. + x_i,
/// or from the end, y_i = x_i + .. + x_n, where `reverse`. f32 and f64 in kind,
/// added up in double; i32, i64, u8 and bool as i64 (wraps). THROWS: ShapeError
/// for a bad axis.
NEAP_API Tensor cumsum(const TensorOperand& x, std::int64_t axis,
                       bool reverse = false);

}  // namespace neap
