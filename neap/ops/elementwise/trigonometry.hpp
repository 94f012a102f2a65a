// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Functions of angles in radians, hyperbolic ones, and the inverses of both.
// All work element by element; tanh is an activation.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSin;
NEAP_API extern const graph::Op kCos;
NEAP_API extern const graph::Op kTan;
NEAP_API extern const graph::Op kAsin;
NEAP_API extern const graph::Op kAcos;
NEAP_API extern const graph::Op kAtan;
NEAP_API extern const graph::Op kAtan2;
NEAP_API extern const graph::Op kSinh;
NEAP_API extern const graph::Op kCosh;
NEAP_API extern const graph::Op kAsinh;
NEAP_API extern const graph::Op kAcosh;
NEAP_API extern const graph::Op kAtanh;
}  // namespace ops

/// Sine of an angle in radians; f32, f64. NaN for infinities.
NEAP_API Tensor sin(const TensorOperand& x);

/// Cosine of an angle in radians; f32, f64. NaN for infinities.
NEAP_API Tensor cos(const TensorOperand& x);

/// Tangent of an angle in radians; f32, f64. NaN for infinities.
NEAP_API Tensor tan(const TensorOperand& x);

/// Inverse sine, in [-pi / 2, pi / 2]; f32, f64. NaN beyond [-1, 1]; its
/// derivative at the ends is infinity.
NEAP_API Tensor asin(const TensorOperand& x);

/// Inverse cosine, in [0, pi]; f32, f64. NaN beyond [-1, 1]; its derivative at
/// the ends is -infinity.
NEAP_API Tensor acos(const TensorOperand& x);

/// Inverse tangent, in [-pi / 2, pi / 2]; f32, f64.
NEAP_API Tensor atan(const TensorOperand& x);

/// The angle in [-pi, pi] of the point with ordinate a and abscissa b, in
/// radians; f32, f64. Its derivative at the origin is NaN.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ or lack a number that is given, which takes the tensor's dtype.
NEAP_API Tensor atan2(const Operand& a, const Operand& b);

/// Hyperbolic sine; f32, f64.
NEAP_API Tensor sinh(const TensorOperand& x);

/// Hyperbolic cosine; f32, f64.
NEAP_API Tensor cosh(const TensorOperand& x);

/// Inverse hyperbolic sine; f32, f64.
NEAP_API Tensor asinh(const TensorOperand& x);

/// Inverse hyperbolic cosine; f32, f64. NaN below 1; its derivative at 1 is
/// infinity.
NEAP_API Tensor acosh(const TensorOperand& x);

/// Inverse hyperbolic tangent; f32, f64. Infinite at 1 and -1, NaN beyond.
NEAP_API Tensor atanh(const TensorOperand& x);

}  // namespace neap
