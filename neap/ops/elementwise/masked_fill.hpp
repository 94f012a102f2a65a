// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// x with `value`, a number or a tensor, where the mask (bool) is true; all
/// broadcast. THROWS: ShapeError, DTypeError.
NEAP_API Tensor masked_fill(const Operand& x, const Operand& mask,
                            const Operand& value);

}  // namespace neap
