// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kNeg;
}  // namespace ops

/// -x; f32, f64, i32, i64.
NEAP_API Tensor neg(const Operand& x);

}  // namespace neap
