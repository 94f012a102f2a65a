// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSinh;
}  // namespace ops

/// Hyperbolic sine; f32, f64.
NEAP_API Tensor sinh(const Operand& x);

}  // namespace neap
