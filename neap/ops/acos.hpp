// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kAcos;
}  // namespace ops

/// Inverse cosine, in [0, pi]; f32, f64. NaN beyond [-1, 1]; its derivative at
/// the ends is -infinity.
NEAP_API Tensor acos(const Operand& x);

}  // namespace neap
