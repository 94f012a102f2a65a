// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kTan;
}  // namespace ops

/// Tangent of an angle in radians; f32, f64. NaN for infinities.
NEAP_API Tensor tan(const Operand& x);

}  // namespace neap
