// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kAcosh;
}  // namespace ops

/// Inverse hyperbolic cosine; f32, f64. NaN below 1; its derivative at 1 is
/// infinity.
NEAP_API Tensor acosh(const Operand& x);

}  // namespace neap
