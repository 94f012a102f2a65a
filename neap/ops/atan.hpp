// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kAtan;
}  // namespace ops

/// Inverse tangent, in [-pi / 2, pi / 2]; f32, f64.
NEAP_API Tensor atan(const Operand& x);

}  // namespace neap
