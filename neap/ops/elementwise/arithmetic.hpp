// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sums, products, quotients, squares, roots and signs. All work element by
// element.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kAdd;
NEAP_API extern const graph::Op kSub;
NEAP_API extern const graph::Op kMul;
NEAP_API extern const graph::Op kDiv;
NEAP_API extern const graph::Op kNeg;
NEAP_API extern const graph::Op kAbs;
NEAP_API extern const graph::Op kSign;
NEAP_API extern const graph::Op kSquare;
NEAP_API extern const graph::Op kSqrt;
NEAP_API extern const graph::Op kRsqrt;
NEAP_API extern const graph::Op kReciprocal;
}  // namespace ops

/// a + b, broadcast; f32, f64, i32 (wraps), i64 (wraps).
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ or lack a number that is given, which takes the tensor's dtype.
NEAP_API Tensor add(const Operand& a, const Operand& b);

/// a - b, broadcast; f32, f64, i32 (wraps), i64 (wraps).
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ or lack a number that is given, which takes the tensor's dtype.
NEAP_API Tensor sub(const Operand& a, const Operand& b);

/// a * b element by element, broadcast; f32, f64, i32 (wraps), i64 (wraps).
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ or lack a number that is given, which takes the tensor's dtype.
NEAP_API Tensor mul(const Operand& a, const Operand& b);

/// a / b, broadcast; f32, f64.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ or lack a number that is given, which takes the tensor's dtype.
NEAP_API Tensor div(const Operand& a, const Operand& b);

/// -x; f32, f64, i32, i64.
NEAP_API Tensor neg(const TensorOperand& x);

/// |x|; f32, f64, i32, i64. The derivative at 0 is 0.
NEAP_API Tensor abs(const TensorOperand& x);

/// -1, 0 or 1; NaN of NaN; f32, f64, i32, i64. Its derivative is 0 everywhere.
NEAP_API Tensor sign(const TensorOperand& x);

/// x * x; f32, f64, i32, i64.
NEAP_API Tensor square(const TensorOperand& x);

/// Square root; f32, f64. NaN below 0.
NEAP_API Tensor sqrt(const TensorOperand& x);

/// 1 / sqrt x; f32, f64. Infinity at 0, NaN below.
NEAP_API Tensor rsqrt(const TensorOperand& x);

/// 1 / x; f32, f64.
NEAP_API Tensor reciprocal(const TensorOperand& x);

}  // namespace neap
