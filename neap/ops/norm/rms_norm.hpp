// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Normalisation by the root of the mean square, and its derivative.
#pragma once

#include <array>
#include <optional>

#include "neap/graph/recorder.hpp"

namespace neap {

namespace kernels {
struct NormGradAttrs;
}  // namespace kernels

namespace ops {
NEAP_API extern const graph::Op kRmsNorm;
NEAP_API extern const graph::Op kRmsNormGrad;
/// rms_norm over the last axis, and what the rows were normalised with:
/// 1 / sqrt(mean x^2 + eps), (..., 1) in f64. `weight`, (n), may be undefined.
NEAP_API std::array<Tensor, 2> rms_norm_of(const Operand& x,
                                           const Tensor& weight, double eps);
}  // namespace ops

/// x / sqrt(mean x^2 + eps) weight, with the mean over the last axes, whose
/// extents are `normalized_shape` (Zhang and Sennrich, arXiv 1910.07467); f32,
/// f64. weight has that shape, and may be undefined; eps is the distance from 1
/// to the dtype's next number unless given. Keeps x and one number a row for
/// the backward.
/// THROWS: ShapeError, DTypeError; ValueError unless eps >= 0.
NEAP_API Tensor rms_norm(const Operand& x, const Shape& normalized_shape,
                         const Tensor& weight = {},
                         std::optional<double> eps = {});

namespace ops {

/// The cotangents of rms_norm_of's x and weight, as many as wanted (the others
/// have shape [0]); `weight` may be undefined. stats are what rms_norm_of gave
/// for x, without a derivative of their own.
NEAP_API std::array<Tensor, 2> rms_norm_grad(
    const Operand& g, const Operand& x, const Operand& stats,
    const Tensor& weight, const kernels::NormGradAttrs& wanted);

}  // namespace ops

}  // namespace neap
