// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLog2;
}  // namespace ops

/// Logarithm to base 2, exact for whole powers; f32, f64. -infinity at 0, NaN
/// below.
NEAP_API Tensor log2(const Operand& x);

}  // namespace neap
