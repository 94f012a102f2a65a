// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// scale: x *= ScaleAttrs::factor in place (the factor rounded to the dtype
// first). No inputs; the key operand is out[0]. f32, f64.
//   out[0] x  (...)  any strides, read and written
#pragma once

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

extern const KernelList scale_kernels;

}  // namespace neap::kernels
