// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kPow;
}  // namespace ops

/// a^b element by element, broadcast; f32, f64. By the rules of std::pow: 1
/// where b = 0 or a = 1, NaN where a < 0 and b is no whole number. The
/// derivative by a is 0 where b = 0; that by b is 0 where a = 0 and b >= 0, and
/// NaN where a < 0 (as in PyTorch). The exponents 2, 0.5, -0.5 and -1, as
/// numbers, are square, sqrt, rsqrt and reciprocal.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ. A number takes the tensor's dtype.
NEAP_API Tensor pow(const Operand& a, const Operand& b);

}  // namespace neap
