// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// pow: y = a^b by the rules of std::pow: 1 for b = 0 and for a = 1, NaN for
// a < 0 and b no whole number. No attributes. f32, f64.
//   in[0]  a  (...)  any strides
//   in[1]  b  (...)  any strides, dtype of a
//   out[0] y  (...)  any strides, may be a or b where shaped as y
// a and b broadcast to y by NumPy's rule.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList pow_kernels;

}  // namespace neap::kernels
