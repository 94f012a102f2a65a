// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// scale: x *= factor in place, the factor being a number in memory (rounded to
// the dtype of x first). 1 leaves x as it is, with no write. No attributes.
// f32, f64: the dtype of x; whichever operand a kernel was found by, it looks
// at x.
//   in[0]  factor  f64, one element
//   out[0] x       (...)  any strides, read and written
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList scale_kernels;

}  // namespace neap::kernels
