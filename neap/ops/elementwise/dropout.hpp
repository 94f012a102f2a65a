// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kDropout;
}  // namespace ops

/// Each element 0 with probability p, else x / (1 - p); f32, f64. Takes one
/// draw of the current generator. x itself unless training, and where p is 0.
/// Keeps nothing for the derivative: the key of the draw and the element's
/// index say again which elements dropped. THROWS: ValueError unless 0 <= p
/// < 1.
NEAP_API Tensor dropout(const TensorOperand& x, double p, bool training = true);

}  // namespace neap
