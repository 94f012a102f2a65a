// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "neap/ops/sequence/recurrent_rules.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kGruGrad;

/// The cotangents of what gru keeps, before sigmoid and tanh, (T, b, 4h), and
/// of h0 if wanted. `values` are y. Has no derivative: gru's rule sees to it.
NEAP_API std::array<Tensor, 2> gru_grad(RecurrentGradInputs in,
                                        const RecurrentGradAttrs& attrs);

}  // namespace neap::ops
