// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Group and instance normalisation, and their derivative.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kGroupNorm;
}  // namespace ops

/// (x - mean) / sqrt(var + eps) weight + bias for x of (n, c, ...), with mean
/// and (biased) variance of each sample over each of `groups` groups of
/// neighbouring channels (Wu and He, arXiv 1803.08494); f32, f64. weight and
/// bias, (c), may be undefined. Keeps x and two numbers a group.
/// THROWS: ShapeError, DTypeError; ValueError unless groups divides c, and
/// unless eps >= 0.
NEAP_API Tensor group_norm(const Operand& x, std::int64_t groups,
                           const Tensor& weight = {}, const Tensor& bias = {},
                           double eps = 1e-5);

/// The same with a group for each channel (Ulyanov et al., arXiv 1607.08022),
/// for x of (n, c, ...) with at least three axes. THROWS: as group_norm;
/// ValueError for a single element a channel.
NEAP_API Tensor instance_norm(const Operand& x, const Tensor& weight = {},
                              const Tensor& bias = {}, double eps = 1e-5);

namespace ops {

/// The derivative rules of group_norm, for x of (n, c, s).
NEAP_API extern const graph::Op kGroupNormGrad;

}  // namespace ops

}  // namespace neap
