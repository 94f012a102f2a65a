// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLog;
}  // namespace ops

/// Natural logarithm; f32, f64. -inf at 0, NaN below.
NEAP_API Tensor log(const Operand& x);

}  // namespace neap
