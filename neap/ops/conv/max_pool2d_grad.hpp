// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/conv/pool.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kMaxPool2dGrad;

/// dx = the sum of g over the windows whose largest element an element was.
/// `codes` and `attrs` as max_pool2d's. f32, f64.
NEAP_API Tensor max_pool2d_grad(const Operand& g, const Operand& codes,
                                const kernels::PoolAttrs& attrs);

}  // namespace neap::ops
