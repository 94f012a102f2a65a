// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/activation_attrs.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kSoftplusGrad;

/// The cotangent of softplus, from its input x; of one shape. f32, f64.
NEAP_API Tensor softplus_grad(const Operand& g, const Operand& x,
                              const kernels::SoftplusAttrs& attrs);

}  // namespace neap::ops
