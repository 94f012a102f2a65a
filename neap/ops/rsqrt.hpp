// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kRsqrt;
}  // namespace ops

/// 1 / sqrt x; f32, f64. Infinity at 0, NaN below.
NEAP_API Tensor rsqrt(const Operand& x);

}  // namespace neap
