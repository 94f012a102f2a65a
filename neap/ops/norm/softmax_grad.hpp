// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kSoftmaxGrad;

/// The cotangent of softmax along an axis (from the start), from its output y;
/// of one shape. f32, f64.
NEAP_API Tensor softmax_grad(const Operand& g, const Operand& y,
                             std::int64_t axis);

}  // namespace neap::ops
