// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLinear;
}  // namespace ops

/// x w^T + bias: x (..., in), w (out, in), bias (out), y (..., out); f32, f64.
/// Products of f32 are computed in current_precision() (precision.hpp). Beside
/// f32, w may be a constant in bf16: it is widened as it is read, to the bits
/// of linear(x, cast(w, f32), bias). THROWS: ShapeError, DTypeError, also for w
/// in bf16 that requires a gradient or meets UsePrecision(kBf16).
NEAP_API Tensor linear(const Operand& x, const Operand& w);
NEAP_API Tensor linear(const Operand& x, const Operand& w, const Operand& bias);

}  // namespace neap
