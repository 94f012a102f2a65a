// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLog10;
}  // namespace ops

/// Logarithm to base 10, exact for whole powers; f32, f64. -infinity at 0, NaN
/// below.
NEAP_API Tensor log10(const Operand& x);

}  // namespace neap
