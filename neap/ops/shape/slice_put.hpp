// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/engine/attrs.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSlicePut;

/// Zeros of extent attrs.extent along attrs.axis, with g at the elements that
/// `attrs` names: the cotangent of slice. f32, f64.
NEAP_API Tensor slice_put(const Operand& g, const kernels::SliceAttrs& attrs);

}  // namespace ops

}  // namespace neap
