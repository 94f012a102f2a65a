// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Elman's recurrent network over a sequence.
#pragma once

#include "neap/ops/sequence/recurrent.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kRnn;
}  // namespace ops

enum class Nonlinearity : std::uint8_t { kTanh, kRelu };

struct RnnOptions {
  Nonlinearity nonlinearity = Nonlinearity::kTanh;
  bool is_reverse = false;
};

/// A layer of Elman's network ("Finding structure in time", 1990) over a
/// sequence x, (T, b, features), from its last step to its first if
/// `is_reverse`; h0 (b, h), undefined: zeros; f32, f64:
///
///   h = tanh(x_t w_ih^T + b_ih + h w_hh^T + b_hh), or max(0, ...)
///
/// Keeps h of every step for the backward; the derivative of max(0, s) at 0 is
/// 0, as relu's. THROWS: ShapeError (for no step too), DTypeError; ValueError
/// for one bias.
NEAP_API RecurrentResult rnn(const Operand& x, const RecurrentWeights& weights,
                             const Tensor& h0 = {},
                             const RnnOptions& options = {});

/// A single step: x (b, features), gives h. THROWS: as rnn.
NEAP_API Tensor rnn_cell(const TensorOperand& x, const Tensor& h,
                         const RecurrentWeights& weights,
                         Nonlinearity nonlinearity = Nonlinearity::kTanh);

}  // namespace neap
