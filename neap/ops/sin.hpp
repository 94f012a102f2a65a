// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSin;
}  // namespace ops

/// Sine of an angle in radians; f32, f64. NaN for infinities.
NEAP_API Tensor sin(const Operand& x);

}  // namespace neap
