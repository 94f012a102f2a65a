// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Whole numbers near a number, and rests of divisions. All work element by
// element.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kCeil;
NEAP_API extern const graph::Op kFloor;
NEAP_API extern const graph::Op kRound;
NEAP_API extern const graph::Op kTrunc;
NEAP_API extern const graph::Op kFmod;
NEAP_API extern const graph::Op kRemainder;
}  // namespace ops

/// The smallest whole number that is no less; f32, f64. Its derivative is 0.
NEAP_API Tensor ceil(const TensorOperand& x);

/// The largest whole number that is no more; f32, f64. Its derivative is 0.
NEAP_API Tensor floor(const TensorOperand& x);

/// The nearest whole number, halves to the even one; f32, f64. Its derivative
/// is 0.
NEAP_API Tensor round(const TensorOperand& x);

/// The whole number without the fraction; f32, f64. Its derivative is 0.
NEAP_API Tensor trunc(const TensorOperand& x);

/// The rest of a / b with the sign of a, a - b trunc(a / b) exactly;
/// broadcast; f32, f64. NaN where b = 0 or a is infinite. Where b divides a the
/// derivative by b is the one on the side of larger |a|.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ or lack a number that is given, which takes the tensor's dtype.
NEAP_API Tensor fmod(const Operand& a, const Operand& b);

/// The rest of a / b with the sign of b, a - b floor(a / b) exactly;
/// broadcast; f32, f64. NaN where b = 0 or a is infinite. Where b divides a the
/// derivative by b is the one on the side of larger |a|.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ or lack a number that is given, which takes the tensor's dtype.
NEAP_API Tensor remainder(const Operand& a, const Operand& b);

}  // namespace neap
