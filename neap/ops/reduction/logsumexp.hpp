// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLogsumexp;
}  // namespace ops

/// ln sum e^x over some axes (negative ones count from the end), or over all,
/// without overflow; f32, f64. -inf where all elements are, with a derivative
/// of 0, and where there are none; inf where one is (and NaN as its
/// derivative). Each axis is removed, or stays with extent 1 where keepdim.
/// THROWS: ShapeError for an axis that is out of range or named twice.
NEAP_API Tensor logsumexp(const TensorOperand& x);
NEAP_API Tensor logsumexp(const TensorOperand& x, const Shape& axes,
                          bool keepdim = false);

}  // namespace neap
