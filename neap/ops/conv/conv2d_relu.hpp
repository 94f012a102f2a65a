// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/conv/conv.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kConv2dRelu;
NEAP_API extern const graph::Op kConv2dReluBits;

/// relu(conv2d(x, w, bias)), to the same bits, as one call that a compiled step
/// makes of the two (fuse_relu) where no derivative is wanted; an undefined
/// bias is none. f32, f64. THROWS: as conv2d.
NEAP_API Tensor conv2d_relu(const Operand& x, const Operand& w,
                            const Tensor& bias,
                            const kernels::ConvAttrs& attrs);

/// The same for calls that are recorded. The second output, one bit an element,
/// is a residual alone.
NEAP_API Tensor conv2d_relu_bits(const Operand& x, const Operand& w,
                                 const Tensor& bias,
                                 const kernels::ConvAttrs& attrs);

}  // namespace neap::ops
