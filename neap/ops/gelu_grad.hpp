// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kGeluGrad;

/// The cotangent of gelu, from its input x; of one shape. f32, f64.
NEAP_API Tensor gelu_grad(const Operand& g, const Operand& x);

NEAP_API extern const graph::Op kGeluTanhGrad;

/// The cotangent of gelu_tanh, from its input x; of one shape. f32, f64.
NEAP_API Tensor gelu_tanh_grad(const Operand& g, const Operand& x);

}  // namespace neap::ops
