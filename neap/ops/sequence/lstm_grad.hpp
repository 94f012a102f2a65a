// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "neap/ops/sequence/recurrent_rules.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kLstmGrad;

/// The cotangents of lstm's gates before sigmoid and tanh, (T, b, 4h), and of
/// h0 and c0 if wanted. `kept` are the gates after them, `values` c. Has no
/// derivative: lstm's rule sees to it.
NEAP_API std::array<Tensor, 3> lstm_grad(RecurrentGradInputs in,
                                         const RecurrentGradAttrs& attrs);

}  // namespace neap::ops
