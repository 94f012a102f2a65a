// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/engine/attrs.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kSliceAdd;

/// x with g added to the elements that `attrs` names. f32, f64, i32, i64.
NEAP_API Tensor slice_add(const Operand& x, const Operand& g,
                          const kernels::SliceAttrs& attrs);

}  // namespace neap::ops
