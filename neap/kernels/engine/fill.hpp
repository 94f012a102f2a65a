// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// fill: every element becomes FillAttrs::value, converted as cast does from
// f64. No inputs; the key operand is out[0]. All dtypes.
//   out[0] y  (...)  any strides
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList fill_kernels;

}  // namespace neap::kernels
