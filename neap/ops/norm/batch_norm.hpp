// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Batch normalisation, and its derivative.
#pragma once

#include <optional>

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kBatchNorm;
}  // namespace ops

struct BatchNormOptions {
  bool training = false;
  /// How far the running values move towards those of a batch; nothing: they
  /// are the mean over all batches (then num_batches_tracked is needed).
  std::optional<double> momentum = 0.1;
  double eps = 1e-5;
  /// i64, rank 0, or undefined: counts the batches of training.
  Tensor num_batches_tracked{};
};

/// (x - mean) / sqrt(var + eps) weight + bias, by channel, for x of (n, c) or
/// (n, c, ...) (Ioffe and Szegedy, arXiv 1502.03167); f32, f64. In training,
/// mean and (biased) variance are those of the batch, over all axes but the
/// channels', and the running ones, with the unbiased variance, are moved
/// towards them; else they are the running ones.
///
/// Vectors have the shape (c) and x's dtype. weight and bias may be undefined;
/// so may both running ones, in training. Keeps x and two numbers a channel.
///
/// The running values are written at the end, when all that can fail is done:
/// once for a call inside a rematerialised segment, and in each run of a step
/// that is traced. A batch without elements leaves them as they are.
/// THROWS: ShapeError, DTypeError; ValueError for options that make no sense,
/// and in training for a single element a channel; GraphError for a running
/// value that requires grad or is a recorded op's result. All is then
/// unchanged.
NEAP_API Tensor batch_norm(const Operand& x, const Tensor& running_mean,
                           const Tensor& running_var, const Tensor& weight = {},
                           const Tensor& bias = {},
                           const BatchNormOptions& options = {});

namespace ops {

/// The derivative rules of batch_norm, for x of (n, c, s).
NEAP_API extern const graph::Op kBatchNormGrad;

}  // namespace ops

}  // namespace neap
