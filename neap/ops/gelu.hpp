// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kGelu;
NEAP_API extern const graph::Op kGeluTanh;
}  // namespace ops

enum class GeluForm : std::uint8_t { kExact, kTanh };

/// x times the share of a normal distribution below x, or nearly that by tanh
/// (PyTorch's approximate='tanh'; Hendrycks and Gimpel, 2016); f32, f64. Keeps
/// x for the derivative.
NEAP_API Tensor gelu(const Operand& x, GeluForm form = GeluForm::kExact);

}  // namespace neap
