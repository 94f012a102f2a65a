// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kCausalSoftmax;
}  // namespace ops

/// Attention weights of scores x (..., m, n): softmax(scale x) along the last
/// axis, of which row i sees columns j <= i + diagonal alone; the others are 0,
/// and so is all of a row that sees none (Vaswani et al., arXiv 1706.03762,
/// section 3.2.3). f32, f64. What a row does not see is never read, and needs
/// no mask in memory. Keeps the result alone for the derivative.
/// THROWS: ShapeError below rank 2; DTypeError; ValueError unless scale is
/// finite and above 0.
NEAP_API Tensor causal_softmax(const TensorOperand& x, double scale = 1.0,
                               std::int64_t diagonal = 0);

}  // namespace neap
