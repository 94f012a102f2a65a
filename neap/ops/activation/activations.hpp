// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Activations without parameters (but for the form of gelu). All work element
// by element.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSigmoid;
NEAP_API extern const graph::Op kTanh;
NEAP_API extern const graph::Op kLogSigmoid;
NEAP_API extern const graph::Op kSilu;
NEAP_API extern const graph::Op kMish;
NEAP_API extern const graph::Op kHardSwish;
NEAP_API extern const graph::Op kGelu;
NEAP_API extern const graph::Op kGeluTanh;
}  // namespace ops

/// Logistic function; f32, f64.
NEAP_API Tensor sigmoid(const TensorOperand& x);

/// Hyperbolic tangent; f32, f64.
NEAP_API Tensor tanh(const TensorOperand& x);

/// ln(sigmoid(x)), without overflow and with its small values; f32, f64. Keeps
/// the result for the derivative.
NEAP_API Tensor log_sigmoid(const TensorOperand& x);

/// x / (1 + |x|); f32, f64. The derivative at 0 is 1.
NEAP_API Tensor softsign(const TensorOperand& x);

/// x sigmoid(x), also named swish; f32, f64. Keeps x for the derivative.
NEAP_API Tensor silu(const TensorOperand& x);

/// x tanh(softplus(x)); f32, f64. Keeps x for the derivative.
NEAP_API Tensor mish(const TensorOperand& x);

/// x clip(x + 3, 0, 6) / 6: 0 where x <= -3, x where x >= 3; f32, f64. 0 at
/// minus infinity too, where PyTorch's hardswish is NaN. NaN stays. The
/// derivative at -3 is 0, at 3 it is 1 (as in PyTorch). Keeps x for the
/// derivative.
NEAP_API Tensor hard_swish(const TensorOperand& x);

enum class GeluForm : std::uint8_t { kExact, kTanh };

/// x times the share of a normal distribution below x, or nearly that by tanh
/// (PyTorch's approximate='tanh'; Hendrycks and Gimpel, 2016); f32, f64. Keeps
/// x for the derivative.
NEAP_API Tensor gelu(const TensorOperand& x, GeluForm form = GeluForm::kExact);

}  // namespace neap
