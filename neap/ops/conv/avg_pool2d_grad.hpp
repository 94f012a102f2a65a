// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/conv/pool.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kAvgPool2dGrad;

/// The adjoint of avg_pool2d. f32, f64.
NEAP_API Tensor avg_pool2d_grad(const Operand& g,
                                const kernels::PoolAttrs& attrs);

}  // namespace neap::ops
