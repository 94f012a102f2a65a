// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kAsinh;
}  // namespace ops

/// Inverse hyperbolic sine; f32, f64.
NEAP_API Tensor asinh(const Operand& x);

}  // namespace neap
