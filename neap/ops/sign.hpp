// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSign;
}  // namespace ops

/// -1, 0 or 1; NaN of NaN; f32, f64, i32, i64. Its derivative is 0 everywhere.
NEAP_API Tensor sign(const Operand& x);

}  // namespace neap
