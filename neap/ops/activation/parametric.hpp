// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Activations with parameters, which are attributes of the op. All work element
// by element.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kElu;
NEAP_API extern const graph::Op kSoftplus;
}  // namespace ops

/// x where x > 0, else alpha (e^x - 1) (Clevert et al., ICLR 2016); f32, f64.
/// The derivative at 0 is alpha. Keeps the result for it.
/// THROWS: ValueError unless alpha >= 0.
NEAP_API Tensor elu(const TensorOperand& x, double alpha = 1.0);

/// ln(1 + e^(beta x)) / beta, and x itself where beta x > threshold; f32, f64.
/// Keeps x for the derivative, which is sigmoid(beta x), and 1 there.
/// THROWS: ValueError unless beta > 0.
NEAP_API Tensor softplus(const TensorOperand& x, double beta = 1.0,
                         double threshold = 20.0);

}  // namespace neap
