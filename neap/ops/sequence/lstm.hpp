// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Long short-term memory over a sequence.
#pragma once

#include "neap/ops/sequence/recurrent.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLstm;
}  // namespace ops

/// (b, h) each; both undefined: zeros.
struct LstmState {
  Tensor h{};
  Tensor c{};
};

/// h of every step, (T, b, h), and the state after the last step computed.
struct LstmResult {
  Tensor output;
  LstmState state;
};

/// A layer of long short-term memory (Hochreiter and Schmidhuber, 1997) over a
/// sequence x, (T, b, features), from its last step to its first if
/// `is_reverse`; f32, f64:
///
///   i, f, g, o = x_t w_ih^T + b_ih + h w_hh^T + b_hh   side by side
///   c = sigmoid(f) c + sigmoid(i) tanh(g)
///   h = sigmoid(o) tanh(c)
///
/// Keeps the gates after sigmoid and tanh, c and h of every step for the
/// backward, which computes the cotangents of the gates in the gates' memory
/// where it may. Nothing is kept where there is no derivative. THROWS:
/// ShapeError (for no step too), DTypeError; ValueError for one bias or half a
/// state.
NEAP_API LstmResult lstm(const Operand& x, const RecurrentWeights& weights,
                         const LstmState& state = {}, bool is_reverse = false);

/// A single step: x (b, features). THROWS: as lstm.
NEAP_API LstmState lstm_cell(const TensorOperand& x, const LstmState& state,
                             const RecurrentWeights& weights);

}  // namespace neap
