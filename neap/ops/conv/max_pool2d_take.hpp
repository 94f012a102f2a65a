// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/conv/pool.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kMaxPool2dTake;

/// The elements of u that were the largest of their windows.
/// `codes` and `attrs` as max_pool2d's. f32, f64.
NEAP_API Tensor max_pool2d_take(const Operand& u, const Operand& codes,
                                const kernels::PoolAttrs& attrs);

}  // namespace neap::ops
