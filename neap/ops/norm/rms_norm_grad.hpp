// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "neap/graph/recorder.hpp"
#include "neap/kernels/norm/layer_norm_grad.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kRmsNormGrad;

/// The cotangents of rms_norm_of's x and weight, as many as wanted (the others
/// have shape [0]); `weight` may be undefined. stats are what rms_norm_of gave
/// for x, without a derivative of their own.
NEAP_API std::array<Tensor, 2> rms_norm_grad(
    const Operand& g, const Operand& x, const Operand& stats,
    const Tensor& weight, const kernels::NormGradAttrs& wanted);

}  // namespace neap::ops
