// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms, powers and error functions. All work element by
// element.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kExp;
NEAP_API extern const graph::Op kExpm1;
NEAP_API extern const graph::Op kLog;
NEAP_API extern const graph::Op kLog1p;
NEAP_API extern const graph::Op kLog2;
NEAP_API extern const graph::Op kLog10;
NEAP_API extern const graph::Op kPow;
NEAP_API extern const graph::Op kErf;
NEAP_API extern const graph::Op kErfc;
NEAP_API extern const graph::Op kGaussian;
}  // namespace ops

/// e^x; f32, f64.
NEAP_API Tensor exp(const TensorOperand& x);

/// e^x - 1, exact near 0 too; f32, f64.
NEAP_API Tensor expm1(const TensorOperand& x);

/// Natural logarithm; f32, f64. -inf at 0, NaN below.
NEAP_API Tensor log(const TensorOperand& x);

/// ln(1 + x), exact near 0 too; f32, f64. -infinity at -1, NaN below.
NEAP_API Tensor log1p(const TensorOperand& x);

/// Logarithm to base 2, exact for whole powers; f32, f64. -infinity at 0, NaN
/// below.
NEAP_API Tensor log2(const TensorOperand& x);

/// Logarithm to base 10, exact for whole powers; f32, f64. -infinity at 0, NaN
/// below.
NEAP_API Tensor log10(const TensorOperand& x);

/// a^b element by element, broadcast; f32, f64. By the rules of std::pow: 1
/// where b = 0 or a = 1, NaN where a < 0 and b is no whole number. The
/// derivative by a is 0 where b = 0; that by b is 0 where a = 0 and b >= 0, and
/// NaN where a < 0 (as in PyTorch). The exponents 2, 0.5, -0.5 and -1, as
/// numbers, are square, sqrt, rsqrt and reciprocal.
/// THROWS: ShapeError when shapes do not broadcast, DTypeError when dtypes
/// differ or lack a number that is given, which takes the tensor's dtype.
NEAP_API Tensor pow(const Operand& a, const Operand& b);

/// Error function; f32, f64.
NEAP_API Tensor erf(const TensorOperand& x);

/// Complementary error function, 1 - erf x without cancellation; f32, f64.
NEAP_API Tensor erfc(const TensorOperand& x);

/// The bell curve e^(-x^2), not normalised; f32, f64.
NEAP_API Tensor gaussian(const TensorOperand& x);

/// The density of the normal distribution, e^(-z^2 / 2) / (d sqrt(2 pi)) with
/// z = (x - mean) / d and d = deviation; f32, f64. Mean and deviation are
/// numbers or tensors, broadcast, with derivatives of their own.
/// THROWS: ValueError for a deviation that is a number and not above 0 (of a
/// tensor it is not checked: NaN or a negative density comes out);
/// ShapeError, DTypeError.
NEAP_API Tensor normal_pdf(const Operand& x, const Operand& mean = 0.0,
                           const Operand& deviation = 1.0);

}  // namespace neap
