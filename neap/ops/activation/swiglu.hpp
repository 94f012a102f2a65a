// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSwiglu;
}  // namespace ops

/// silu(gate) up, element by element: the gated unit of a feed-forward layer
/// (Shazeer, "GLU variants improve transformer", arXiv 2002.05202); f32, f64.
/// The operands broadcast. Keeps them alone for the derivative.
NEAP_API Tensor swiglu(const Operand& gate, const Operand& up);

}  // namespace neap
