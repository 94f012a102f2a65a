// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSoftplus;
}  // namespace ops

/// ln(1 + e^(beta x)) / beta, and x itself where beta x > threshold; f32, f64.
/// Keeps x for the derivative, which is sigmoid(beta x), and 1 there.
/// THROWS: ValueError unless beta > 0.
NEAP_API Tensor softplus(const Operand& x, double beta = 1.0,
                         double threshold = 20.0);

}  // namespace neap
