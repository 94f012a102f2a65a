// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kSiluGrad;

/// The cotangent of silu, from its input x; of one shape. f32, f64.
NEAP_API Tensor silu_grad(const Operand& g, const Operand& x);

}  // namespace neap::ops
