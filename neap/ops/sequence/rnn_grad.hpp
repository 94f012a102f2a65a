// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "neap/ops/sequence/recurrent_rules.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kRnnGrad;

/// The cotangents of rnn's sums before tanh or relu, (T, b, h), and of h0 if
/// wanted. `kept` is y. Has no derivative: rnn's rule sees to it.
NEAP_API std::array<Tensor, 2> rnn_grad(RecurrentGradInputs in,
                                        const RecurrentGradAttrs& attrs);

}  // namespace neap::ops
