// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// flip: y is x with the order reversed along the axes of ReduceAttrs. Any
// dtype.
//   in[0] x, out[0] y  one shape, any strides
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList flip_kernels;

}  // namespace neap::kernels
