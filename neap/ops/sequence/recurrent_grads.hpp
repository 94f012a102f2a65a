// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The ops that are derivatives of recurrent layers. For sources of ops only.
#pragma once

#include <array>

#include "neap/ops/sequence/recurrent_rules.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kGruGrad;
NEAP_API extern const graph::Op kLstmGrad;
NEAP_API extern const graph::Op kRnnGrad;

/// The cotangents of what gru keeps, before sigmoid and tanh, (T, b, 4h), and
/// of h0 if wanted. `values` are y. Has no derivative: gru's rule sees to it.
NEAP_API std::array<Tensor, 2> gru_grad(RecurrentGradInputs in,
                                        const RecurrentGradAttrs& attrs);

/// The cotangents of lstm's gates before sigmoid and tanh, (T, b, 4h), and of
/// h0 and c0 if wanted. `kept` are the gates after them, `values` c. Has no
/// derivative: lstm's rule sees to it.
NEAP_API std::array<Tensor, 3> lstm_grad(RecurrentGradInputs in,
                                         const RecurrentGradAttrs& attrs);

/// The cotangents of rnn's sums before tanh or relu, (T, b, h), and of h0 if
/// wanted. `kept` is y. Has no derivative: rnn's rule sees to it.
NEAP_API std::array<Tensor, 2> rnn_grad(RecurrentGradInputs in,
                                        const RecurrentGradAttrs& attrs);

}  // namespace neap::ops
