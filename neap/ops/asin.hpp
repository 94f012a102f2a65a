// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kAsin;
}  // namespace ops

/// Inverse sine, in [-pi / 2, pi / 2]; f32, f64. NaN beyond [-1, 1]; its
/// derivative at the ends is infinity.
NEAP_API Tensor asin(const Operand& x);

}  // namespace neap
