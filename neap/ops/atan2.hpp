// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kAtan2;
}  // namespace ops

/// The angle in [-pi, pi] of the point with ordinate a and abscissa b, in
/// radians; f32, f64. Its derivative at the origin is NaN.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ. A number takes the tensor's dtype.
NEAP_API Tensor atan2(const Operand& a, const Operand& b);

}  // namespace neap
