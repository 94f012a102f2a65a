// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLog1p;
}  // namespace ops

/// ln(1 + x), exact near 0 too; f32, f64. -infinity at -1, NaN below.
NEAP_API Tensor log1p(const Operand& x);

}  // namespace neap
