// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// exp, expm1 (e^x - 1), log (natural), log10, log2, log1p (ln(1 + x)), erf,
// erfc (1 - erf x), gaussian (e^-x^2): y = f(x); pow: y = a^b. No attributes.
// f32, f64.
//   in[0]  x or a  (...)  any strides
//   in[1]  b       (...)  any strides, dtype of a
//   out[0] y       (...)  any strides, may be an input that is shaped as y
// a and b broadcast to y by NumPy's rule.
//
// expm1, log1p and erfc lose nothing to cancellation. Logarithms are -infinity
// at the pole and NaN below it; log10 and log2 are exact where y is a whole
// number. pow follows the rules of std::pow: 1 for b = 0 and for a = 1, NaN for
// a < 0 and b no whole number.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

#define NEAP_ROW(name, ...) extern const KernelList name##_kernels;
#include "neap/kernels/elementwise/exponential.inc"
#undef NEAP_ROW

}  // namespace neap::kernels
