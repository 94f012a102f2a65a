// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kRound;
}  // namespace ops

/// The nearest whole number, halves to the even one; f32, f64. Its derivative
/// is 0.
NEAP_API Tensor round(const Operand& x);

}  // namespace neap
