// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// slice_put: the adjoint of slicing, SliceAttrs. Any dtype.
//   in[0]  x  any strides; extent `count` along the axis
//   out[0] y  any strides; extent `extent` along the axis
// y is 0 but for y[.., start + i step, ..] = x[.., i, ..].
// REQUIRES: 0 <= start + i step < extent for 0 <= i < count; step != 0.
#pragma once

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

extern const KernelList slice_put_kernels;

}  // namespace neap::kernels
