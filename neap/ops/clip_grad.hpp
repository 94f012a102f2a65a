// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/attrs.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kClipGrad;
}  // namespace ops

/// The derivative rule of clip: g where x is in the range, its ends included,
/// else 0; f32, f64. THROWS: ShapeError, DTypeError.
NEAP_API Tensor clip_grad(const Operand& g, const Operand& x,
                          const kernels::ClipAttrs& range);

}  // namespace neap
