// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Comparisons and their connectives: bool results, without derivatives. All
// work element by element on operands that broadcast.
//
// Comparisons take any one dtype, and a number beside a tensor takes the
// tensor's; connectives take bool.
// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
// differ or an operand of a connective is not bool.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kEq;
NEAP_API extern const graph::Op kNe;
NEAP_API extern const graph::Op kLt;
NEAP_API extern const graph::Op kLe;
NEAP_API extern const graph::Op kGt;
NEAP_API extern const graph::Op kGe;
NEAP_API extern const graph::Op kLogicalAnd;
NEAP_API extern const graph::Op kLogicalOr;
NEAP_API extern const graph::Op kLogicalXor;
}  // namespace ops

/// a == b as bool.
NEAP_API Tensor eq(const Operand& a, const Operand& b);

/// a != b as bool.
NEAP_API Tensor ne(const Operand& a, const Operand& b);

/// a < b as bool.
NEAP_API Tensor lt(const Operand& a, const Operand& b);

/// a <= b as bool.
NEAP_API Tensor le(const Operand& a, const Operand& b);

/// a > b as bool.
NEAP_API Tensor gt(const Operand& a, const Operand& b);

/// a >= b as bool.
NEAP_API Tensor ge(const Operand& a, const Operand& b);

/// Whether x is not a number, as bool; f32, f64. Not differentiable.
/// THROWS: DTypeError.
NEAP_API Tensor isnan(const TensorOperand& x);

/// Whether x is infinite, as bool; f32, f64. Not differentiable.
/// THROWS: DTypeError.
NEAP_API Tensor isinf(const TensorOperand& x);

/// Whether x is neither infinite nor NaN, as bool; f32, f64. Not
/// differentiable. THROWS: DTypeError.
NEAP_API Tensor isfinite(const TensorOperand& x);

/// True where both are.
NEAP_API Tensor logical_and(const Operand& a, const Operand& b);

/// True where one is, or both.
NEAP_API Tensor logical_or(const Operand& a, const Operand& b);

/// True where one is, but not both.
NEAP_API Tensor logical_xor(const Operand& a, const Operand& b);

/// true where x is false; bool. THROWS: DTypeError.
NEAP_API Tensor logical_not(const TensorOperand& x);

}  // namespace neap
