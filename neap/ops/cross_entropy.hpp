// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
extern const graph::Op kCrossEntropy;
}  // namespace ops

/// Mean over samples of -log_softmax(logits)[label]: logits (N, C) f32 or f64,
/// labels (N) i64. 0 for no samples.
/// THROWS: ShapeError, DTypeError; ValueError for a label outside [0, C) in
/// host memory (labels in another space are the caller's care).
NEAP_API Tensor cross_entropy(const Operand& logits, const Operand& labels);

}  // namespace neap
