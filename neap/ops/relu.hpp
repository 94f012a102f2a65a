// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kRelu;
}  // namespace ops

/// max(x, 0); f32, f64. NaN stays. The derivative at 0 is 0, at NaN it is 1 (as
/// in PyTorch). Keeps one bit an element for
/// it, neither x nor the result.
NEAP_API Tensor relu(const Operand& x);

}  // namespace neap
