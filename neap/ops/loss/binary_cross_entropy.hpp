// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/ops/loss/reduction.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kBinaryCrossEntropy;
NEAP_API extern const graph::Op kLogitsCrossEntropy;
}  // namespace ops

/// -(t ln x + (1 - t) ln(1 - x)) of probabilities x in [0, 1] and targets t of
/// one shape, reduced; f32, f64. Logarithms are no less than -100, and the
/// derivative (x - t) / (x (1 - x)) divides by no less than 1e-12. NaN for x
/// outside [0, 1]. For logits, binary_cross_entropy_with_logits is exact.
/// THROWS: ShapeError, DTypeError.
NEAP_API Tensor binary_cross_entropy(const Operand& x, const Operand& target,
                                     Reduction reduction = Reduction::kMean);

/// The same of x = sigmoid(z), exact for any finite logits z: max(z, 0) - z t +
/// ln(1 + e^-|z|). `pos_weight`, where defined, multiplies the part of t; it
/// broadcasts to the logits. THROWS: ShapeError, DTypeError.
NEAP_API Tensor binary_cross_entropy_with_logits(
    const Operand& logits, const Operand& target,
    Reduction reduction = Reduction::kMean, const Tensor& pos_weight = {});

}  // namespace neap
