// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rectified linear units, and the bits that they keep for their derivative.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kRelu;
NEAP_API extern const graph::Op kLeakyRelu;
NEAP_API extern const graph::Op kReluBits;
NEAP_API extern const graph::Op kReluGrad;
}  // namespace ops

/// max(x, 0); f32, f64. NaN stays. The derivative at 0 is 0, at NaN it is 1 (as
/// in PyTorch). Keeps one bit an element for
/// it, neither x nor the result.
NEAP_API Tensor relu(const TensorOperand& x);

/// x where x > 0, else negative_slope x; f32, f64. The derivative at 0 is
/// negative_slope. Keeps one bit an element for it. A slope of 0 is relu.
NEAP_API Tensor leaky_relu(const TensorOperand& x,
                           double negative_slope = 0.01);

namespace ops {

/// x > 0 ? x : slope x, and for a slope of 0 relu(x): the form of relu and
/// leaky_relu for calls that are recorded. f32, f64.
NEAP_API Tensor relu_bits(const Operand& x, double slope);

/// Whether an op of x that has derivative rules is recorded on the tape.
bool will_be_recorded(const Tensor& x);

/// The cotangent of relu_bits, from its bits (ceil(n / 8), u8): g where the
/// element's bit is set, else slope g (0 for a slope of 0). f32, f64.
/// THROWS: ShapeError, DTypeError.
NEAP_API Tensor relu_grad(const Operand& g, const Operand& bits, double slope);

}  // namespace ops

}  // namespace neap
