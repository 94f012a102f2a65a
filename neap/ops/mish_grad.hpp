// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kMishGrad;

/// The cotangent of mish, from its input x; of one shape. f32, f64.
NEAP_API Tensor mish_grad(const Operand& g, const Operand& x);

}  // namespace neap::ops
