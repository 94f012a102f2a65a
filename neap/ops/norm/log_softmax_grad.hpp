// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLogSoftmaxGrad;

/// The cotangent of log_softmax along an axis (from the start), from its output
/// y; of one shape. f32, f64.
NEAP_API Tensor log_softmax_grad(const Operand& g, const Operand& y,
                                 std::int64_t axis);

}  // namespace ops

}  // namespace neap
