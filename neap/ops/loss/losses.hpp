// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Losses that are composed of other ops. Prediction and target broadcast unless
// said otherwise; f32, f64. With kMean and kSum the result has rank 0.
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/ops/loss/reduction.hpp"

namespace neap {

/// -log_probabilities[label] of every sample: (N, C) f32 or f64, labels (N)
/// i64; (N) for kNone. The mean of no samples is 0. For logits, cross_entropy()
/// takes less memory.
/// THROWS: ShapeError, DTypeError; ValueError for a label outside [0, C) in
/// host memory.
NEAP_API Tensor nll_loss(const Operand& log_probabilities,
                         const Operand& labels,
                         Reduction reduction = Reduction::kMean);

/// (prediction - target)^2.
NEAP_API Tensor mse_loss(const Operand& prediction, const Operand& target,
                         Reduction reduction = Reduction::kMean);

/// |prediction - target|. The derivative is 0 where they are equal.
NEAP_API Tensor l1_loss(const Operand& prediction, const Operand& target,
                        Reduction reduction = Reduction::kMean);

/// With d = prediction - target: d^2 / 2 where |d| <= delta, else delta (|d| -
/// delta / 2). THROWS: ValueError unless delta > 0.
NEAP_API Tensor huber_loss(const Operand& prediction, const Operand& target,
                           Reduction reduction = Reduction::kMean,
                           double delta = 1.0);

/// huber_loss of delta = beta, divided by beta; l1_loss for a beta of 0.
/// THROWS: ValueError unless beta >= 0.
NEAP_API Tensor smooth_l1_loss(const Operand& prediction, const Operand& target,
                               Reduction reduction = Reduction::kMean,
                               double beta = 1.0);

/// The divergence t (ln t - x) of x = log-probabilities from targets t, which
/// are log-probabilities themselves where `log_target`; 0 where t is 0, and no
/// derivative by t there. As PyTorch's, kMean is over all elements: for the
/// mean over samples, divide kSum by their number.
NEAP_API Tensor kl_div(const Operand& log_probabilities, const Operand& target,
                       Reduction reduction = Reduction::kMean,
                       bool log_target = false);

}  // namespace neap
