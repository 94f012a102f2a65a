// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// Whether x is infinite, as bool; f32, f64. Not differentiable.
/// THROWS: DTypeError.
NEAP_API Tensor isinf(const Operand& x);

}  // namespace neap
