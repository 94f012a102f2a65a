// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// Whether x is neither infinite nor NaN, as bool; f32, f64. Not
/// differentiable. THROWS: DTypeError.
NEAP_API Tensor isfinite(const Operand& x);

}  // namespace neap
