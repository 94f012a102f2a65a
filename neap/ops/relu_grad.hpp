// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kReluGrad;

/// The cotangent of relu_bits, from its bits (ceil(n / 8), u8): g where the
/// element's bit is set, else slope g (0 for a slope of 0). f32, f64.
/// THROWS: ShapeError, DTypeError.
NEAP_API Tensor relu_grad(const Operand& g, const Operand& bits, double slope);

}  // namespace neap::ops
