// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSilu;
}  // namespace ops

/// x sigmoid(x), also named swish; f32, f64. Keeps x for the derivative.
NEAP_API Tensor silu(const Operand& x);

}  // namespace neap
