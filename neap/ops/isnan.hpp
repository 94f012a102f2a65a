// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// Whether x is not a number, as bool; f32, f64. Not differentiable.
/// THROWS: DTypeError.
NEAP_API Tensor isnan(const Operand& x);

}  // namespace neap
