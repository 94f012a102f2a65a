// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// where: y = c ? a : b. No attributes. All dtypes; the key operand is in[0], so
// the list is searched with bool.
//   in[0]  c  (...)  bool, any strides
//   in[1]  a  (...)  any strides
//   in[2]  b  (...)  any strides, dtype of a
//   out[0] y  (...)  dtype of a, any strides, may be a or b where shaped as y
// c, a and b broadcast to y by NumPy's rule.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList where_kernels;

}  // namespace neap::kernels
