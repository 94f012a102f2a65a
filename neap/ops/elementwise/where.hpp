// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A choice between elements by a mask.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kWhere;
}  // namespace ops

/// a where condition is true, else b, all broadcast. condition: bool; a, b: any
/// one dtype, or one of them a number. THROWS: ShapeError, DTypeError.
NEAP_API Tensor where(const Operand& condition, const Operand& a,
                      const Operand& b);

/// x with `value`, a number or a tensor, where the mask (bool) is true; all
/// broadcast. THROWS: ShapeError, DTypeError.
NEAP_API Tensor masked_fill(const Operand& x, const Operand& mask,
                            const Operand& value);

}  // namespace neap
