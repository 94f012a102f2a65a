// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kAtanh;
}  // namespace ops

/// Inverse hyperbolic tangent; f32, f64. Infinite at 1 and -1, NaN beyond.
NEAP_API Tensor atanh(const Operand& x);

}  // namespace neap
