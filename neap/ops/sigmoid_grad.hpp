// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSigmoidGrad;
}  // namespace ops

/// The cotangent of sigmoid, from its output y; of one shape. f32, f64.
NEAP_API Tensor sigmoid_grad(const Operand& g, const Operand& y);

}  // namespace neap
