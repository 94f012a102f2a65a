// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/activation_attrs.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kEluGrad;

/// The cotangent of elu, from its output y; of one shape. f32, f64.
NEAP_API Tensor elu_grad(const Operand& g, const Operand& y,
                         const kernels::EluAttrs& attrs);

}  // namespace neap::ops
