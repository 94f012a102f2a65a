// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/conv.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kConv2dRelu;

/// relu(conv2d(x, w, bias)), to the same bits, as one call that a compiled step
/// makes of the two (join_relu); an undefined bias is none. The second output,
/// one bit an element, is a residual alone. f32, f64.
/// THROWS: as conv2d.
NEAP_API Tensor conv2d_relu(const Operand& x, const Operand& w,
                            const Tensor& bias,
                            const kernels::ConvAttrs& attrs);

}  // namespace neap::ops
