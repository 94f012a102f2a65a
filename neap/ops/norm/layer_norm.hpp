// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Layer normalisation, and its derivative.
#pragma once

#include <array>

#include "neap/graph/recorder.hpp"

namespace neap {

namespace kernels {
struct NormGradAttrs;
}  // namespace kernels

namespace ops {
NEAP_API extern const graph::Op kLayerNorm;
NEAP_API extern const graph::Op kLayerNormGrad;
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

namespace ops {

/// The cotangents of layer_norm_of's x, weight and bias, as many as wanted (the
/// others have shape [0]); `weight` may be undefined. stats are what
/// layer_norm_of gave for x, without a derivative of their own.
NEAP_API std::array<Tensor, 3> layer_norm_grad(
    const Operand& g, const Operand& x, const Operand& stats,
    const Tensor& weight, const kernels::NormGradAttrs& wanted);

}  // namespace ops

}  // namespace neap
