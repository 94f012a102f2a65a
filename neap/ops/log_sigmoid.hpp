// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLogSigmoid;
}  // namespace ops

/// ln(sigmoid(x)), without overflow and with its small values; f32, f64. Keeps
/// the result for the derivative.
NEAP_API Tensor log_sigmoid(const Operand& x);

}  // namespace neap
