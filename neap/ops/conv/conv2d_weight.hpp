// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/conv/conv.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kConv2dWeight;

/// The gradient of conv2d by its weight: x (n, c, h, w), y (n, o, oh, ow), the
/// latter's cotangent; (o, c / groups, kh, kw). f32, f64.
/// THROWS: ShapeError, DTypeError.
NEAP_API Tensor conv2d_weight(const Operand& x, const Operand& y,
                              const kernels::ConvAttrs& attrs);

}  // namespace neap::ops
