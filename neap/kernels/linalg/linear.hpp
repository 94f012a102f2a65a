// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// linear: y = x w^T + b, the layer's product. Attributes: ProductAttrs, or
// none.
//   in[0]  x  (rows, in)   any strides
//   in[1]  w  (out, in)    any strides; may be bf16 beside f32
//   in[2]  b  (out)        any stride; may be absent
//   out[0] y  (rows, out)  dense row-major
// The bias is what the sums begin with (gemm.hpp), which also says what is done
// with w in bf16.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList linear_kernels;

}  // namespace neap::kernels
