// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// slice_put: the adjoint of slicing, SliceAttrs. Any dtype.
//   in[0]  x  any strides; extent `count` along the axis
//   out[0] y  any strides; extent `extent` along the axis
// y is 0 but for y[.., start + i step, ..] = x[.., i, ..].
// slice_add: y is in[0] (like y; y may be it), but for y[.., start + i step,
// ..], to which in[1][.., i, ..] is added; f32, f64, i32, i64. REQUIRES: 0 <=
// start + i step < extent for 0 <= i < count; step != 0.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList slice_put_kernels;
extern const KernelList slice_add_kernels;

}  // namespace neap::kernels
