// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSqrt;
}  // namespace ops

/// Square root; f32, f64. NaN below 0.
NEAP_API Tensor sqrt(const Operand& x);

}  // namespace neap
