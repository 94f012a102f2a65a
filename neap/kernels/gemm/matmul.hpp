// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// matmul: c = a b over the last two axes. Attributes: ProductAttrs, or none.
//   in[0]  a  (..., M, K)  any strides
//   in[1]  b  (..., K, N)  any strides; may be bf16 beside f32
//   out[0] c  (..., M, N)  dense row-major
//
// matmul_add: y = c + a b, each element rounded as one sum that begins with c.
//   in[0]  c  (..., M, N)  any strides
//   in[1], in[2]           a and b as above
//   out[0] y  (..., M, N)  dense row-major, may be c
//
// The leading axes of a and b broadcast to those of c. Both have rank 2 or
// more. Sums run over K in order (gemm.hpp).
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList matmul_kernels;
extern const KernelList matmul_add_kernels;

}  // namespace neap::kernels
