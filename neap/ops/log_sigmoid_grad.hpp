// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kLogSigmoidGrad;

/// The cotangent of log_sigmoid, from its output y; of one shape. f32, f64.
NEAP_API Tensor log_sigmoid_grad(const Operand& g, const Operand& y);

}  // namespace neap::ops
