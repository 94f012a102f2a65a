// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kFmod;
}  // namespace ops

/// The rest of a / b with the sign of a, a - b trunc(a / b) exactly;
/// broadcast; f32, f64. NaN where b = 0 or a is infinite. Where b divides a the
/// derivative by b is the one on the side of larger |a|.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ. A number takes the tensor's dtype.
NEAP_API Tensor fmod(const Operand& a, const Operand& b);

}  // namespace neap
