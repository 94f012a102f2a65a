// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithm, and the ops that are their derivatives.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSoftmax;
NEAP_API extern const graph::Op kLogSoftmax;
NEAP_API extern const graph::Op kSoftmaxGrad;
NEAP_API extern const graph::Op kLogSoftmaxGrad;
}  // namespace ops

/// exp(x) / sum(exp(x)) along an axis; f32, f64. No overflow for any finite x.
/// Keeps the result alone for the derivative. THROWS: ShapeError for a bad
/// axis.
NEAP_API Tensor softmax(const TensorOperand& x, std::int64_t axis = -1);

namespace ops {

/// The cotangent of softmax along an axis (from the start), from its output y;
/// of one shape. f32, f64.
NEAP_API Tensor softmax_grad(const Operand& g, const Operand& y,
                             std::int64_t axis);

}  // namespace ops

/// x - log(sum(exp(x))) along an axis; f32, f64. No overflow for any finite x.
/// THROWS: ShapeError for a bad axis.
NEAP_API Tensor log_softmax(const TensorOperand& x, std::int64_t axis = -1);

namespace ops {
/// The cotangent of log_softmax along an axis (from the start), from its output
/// y; of one shape. f32, f64.
NEAP_API Tensor log_softmax_grad(const Operand& g, const Operand& y,
                                 std::int64_t axis);

}  // namespace ops

}  // namespace neap
