// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// gather: y[.., i, ..] = x[.., index[.., i, ..], ..] along the axis of
// AxisAttrs. Any dtype of x; the key operand is in[0].
//   in[0]  x      any strides
//   in[1]  index  i32 or i64, any strides; as many axes as x, no longer than x
//                 along the others
//   out[0] y      the index's shape, x's dtype, any strides
// REQUIRES: every index in [0, extent of x along the axis).
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList gather_kernels;

}  // namespace neap::kernels
