// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kTanhGrad;
}  // namespace ops

/// The cotangent of tanh, from its output y; of one shape. f32, f64.
NEAP_API Tensor tanh_grad(const Operand& g, const Operand& y);

}  // namespace neap
