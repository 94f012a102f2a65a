// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Gated recurrent units over a sequence.
#pragma once

#include "neap/ops/sequence/recurrent.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kGru;
}  // namespace ops

/// A layer of gated recurrent units (Cho et al., arXiv 1406.1078, with the
/// reset gate behind the product, as PyTorch and cuDNN have it) over a sequence
/// x, (T, b, features), from its last step to its first if `is_reverse`; h0 (b,
/// h), undefined: zeros; f32, f64:
///
///   r = sigmoid(x w_ir^T + b_ir + h w_hr^T + b_hr), z likewise
///   n = tanh(x w_in^T + b_in + r (h w_hn^T + b_hn))
///   h = (1 - z) n + z h
///
/// Keeps r, z, n, what h gives to n, and h of every step for the backward.
/// THROWS: ShapeError (for no step too), DTypeError; ValueError for one bias.
NEAP_API RecurrentResult gru(const Operand& x, const RecurrentWeights& weights,
                             const Tensor& h0 = {}, bool is_reverse = false);

/// A single step: x (b, features), gives h. THROWS: as gru.
NEAP_API Tensor gru_cell(const TensorOperand& x, const Tensor& h,
                         const RecurrentWeights& weights);

}  // namespace neap
