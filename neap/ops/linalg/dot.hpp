// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// The sum of a_i b_i of two vectors (n), a number of rank 0; f32, f64.
/// THROWS: ShapeError unless two vectors of one length; DTypeError.
NEAP_API Tensor dot(const Operand& a, const Operand& b);

}  // namespace neap
