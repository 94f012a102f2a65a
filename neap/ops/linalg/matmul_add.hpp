// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kMatmulAdd;

/// c + a b over the last two axes, into c's memory where it may be taken over:
/// a product added to a sum without memory or a pass of its own. c has the
/// shape of the result; the leading axes of a and b broadcast to its; f32, f64.
/// THROWS: ShapeError, DTypeError.
NEAP_API Tensor matmul_add(const Operand& c, const Operand& a,
                           const Operand& b);

}  // namespace neap::ops
