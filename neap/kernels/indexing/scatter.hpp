// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// scatter: y = x, then y[.., index[.., i, ..], ..] = src[.., i, ..] along the
// axis of AxisAttrs; the last one in row-major order stays. scatter_add adds
// instead, one after the other in row-major order: f32, f64, i32, i64 (which
// wraps). scatter_amax and scatter_amin keep the larger, or smaller, of both,
// and NaN; of the same dtypes. scatter takes any dtype. The key operand is
// in[0].
//   in[0]  x      any strides
//   in[1]  index  i32 or i64, any strides; as many axes as x, no longer than x
//                 along the others
//   in[2]  src    the index's shape, x's dtype, any strides
//   out[0] y      like x, any strides; may be x
// scatter_take is scatter's adjoint: src[.., i, ..] = x[.., index[.., i, ..],
// ..] where that one stayed, else 0, and y = x, but 0 at all of these. f32,
// f64.
//   in[0] x, in[1] index, out[0] y (may be x), out[1] src
// REQUIRES: every index in [0, extent of x along the axis).
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList scatter_kernels;
extern const KernelList scatter_add_kernels;
extern const KernelList scatter_amax_kernels;
extern const KernelList scatter_amin_kernels;
extern const KernelList scatter_take_kernels;

}  // namespace neap::kernels
