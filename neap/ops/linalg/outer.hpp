// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// The products a_i b_j of two vectors (m) and (n), as (m, n); dtypes as mul.
/// THROWS: ShapeError unless two vectors; DTypeError.
NEAP_API Tensor outer(const Operand& a, const Operand& b);

}  // namespace neap
