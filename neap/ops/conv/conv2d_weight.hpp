// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/conv/conv.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kConv2dWeight;
NEAP_API extern const graph::Op kConv2dWeightAdd;

/// The gradient of conv2d by its weight: x (n, c, h, w), y (n, o, oh, ow), the
/// latter's cotangent; (o, c / groups, kh, kw). f32, f64.
/// THROWS: ShapeError, DTypeError.
NEAP_API Tensor conv2d_weight(const Operand& x, const Operand& y,
                              const kernels::ConvAttrs& attrs);

/// dw + conv2d_weight(x, y), into dw's memory where it may be taken over, as
/// one sum that begins with dw: some samples after the others give the bits of
/// all at once; f32, f64. In bf16 samples are summed in pairs, so that it may
/// go on only where an even number of them came before.
/// THROWS: ShapeError, DTypeError.
NEAP_API Tensor conv2d_weight_add(const Operand& dw, const Operand& x,
                                  const Operand& y,
                                  const kernels::ConvAttrs& attrs);

}  // namespace neap::ops
