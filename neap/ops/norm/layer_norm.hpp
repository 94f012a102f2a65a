// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLayerNorm;

/// layer_norm over the last axis, and what the rows were normalised with: mean
/// and 1 / sqrt(var + eps), (..., 2) in f64. `weight` and then `bias`, (n), may
/// be undefined.
NEAP_API std::array<Tensor, 2> layer_norm_of(const Operand& x,
                                             const Tensor& weight,
                                             const Tensor& bias, double eps);
}  // namespace ops

/// (x - mean) / sqrt(var + eps) weight + bias, with mean and (biased) variance
/// over the last axes, whose extents are `normalized_shape` (Ba, Kiros and
/// Hinton, arXiv 1607.06450); f32, f64. weight and bias have that shape, and
/// may be undefined. Keeps x and two numbers a row for the backward. THROWS:
/// ShapeError, DTypeError; ValueError unless eps >= 0.
NEAP_API Tensor layer_norm(const Operand& x, const Shape& normalized_shape,
                           const Tensor& weight = {}, const Tensor& bias = {},
                           double eps = 1e-5);

}  // namespace neap
