// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
extern const graph::Op kReluGrad;
}  // namespace ops

/// The cotangent of relu, from its output y; of one shape. f32, f64.
NEAP_API Tensor relu_grad(const Operand& g, const Operand& y);

}  // namespace neap
