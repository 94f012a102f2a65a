// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/ops/activation/activations.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kGeluLinear;
}  // namespace ops

/// linear(gelu(x), w): x (..., in), w (out, in) to (..., out), to the same
/// bits; f32, f64, in the precision that is current. gelu(x) is never whole in
/// memory here, and computed again for the derivative, which keeps x and w.
/// THROWS: as linear.
NEAP_API Tensor gelu_linear(const Operand& x, const Operand& w,
                            GeluForm form = GeluForm::kExact);

/// linear(gelu(x), w, bias) likewise.
NEAP_API Tensor gelu_linear(const Operand& x, const Operand& w,
                            const Operand& bias,
                            GeluForm form = GeluForm::kExact);

}  // namespace neap
