// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Cross entropy with class labels or probabilities, and its derivative.
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/loss/loss_attrs.hpp"
#include "neap/ops/loss/reduction.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kCrossEntropy;
NEAP_API extern const graph::Op kCrossEntropyGrad;
}  // namespace ops

struct CrossEntropyOptions {
  Reduction reduction = Reduction::kMean;
  /// The part of the target, in [0, 1], that is spread evenly over all classes;
  /// the label has the rest (Szegedy et al., 2016).
  double label_smoothing = 0.0;
  /// Samples with this label do not count: loss and derivative 0.
  std::int64_t ignore_index = -100;
  /// A factor of each class's loss, (C) of the logits' dtype, as for classes
  /// that are rare; undefined: 1 each. With labels the mean then divides by the
  /// sum of the labels' weights.
  Tensor weight{};
};

/// -log_softmax(logits)[label] of every sample, reduced: logits (N, C) f32 or
/// f64, labels (N) i64; rank 0, or (N) for kNone. The mean is over the samples
/// that count, 0 where there is none. Logits (N, C, ...) with labels (N, ...)
/// have a sample at every position of the further axes, as the pixels of
/// images.
///
/// Labels of the logits' dtype and shape are probabilities t of the classes:
/// the loss is -sum over c of t[c] log_softmax(logits)[c], all samples count,
/// and the mean is over them. With weights, and with probabilities, the loss is
/// composed of other ops, and keeps the logarithms of all probabilities.
/// THROWS: ShapeError, DTypeError; ValueError for label_smoothing outside [0,
/// 1], and for a label outside [0, C) in host memory (labels in another space
/// are the caller's care).
NEAP_API Tensor cross_entropy(const Operand& logits, const Operand& labels,
                              const CrossEntropyOptions& options = {});

namespace ops {
/// The cotangent of cross_entropy's logits (N, C), from that of the loss (rank
/// 0; (N) where it is not reduced), the logits, the labels (N) i64 and each
/// row's log sum e^x (N).
NEAP_API Tensor cross_entropy_grad(
    const Operand& g, const Operand& logits, const Operand& labels,
    const Operand& log_sum, const kernels::CrossEntropyAttrs& attrs = {});

}  // namespace ops

}  // namespace neap
