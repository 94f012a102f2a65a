// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// max_pool2d_grad: dx = the sum of the g of all windows whose largest element
// an element is, as the codes of max_pool2d say. PoolAttrs; f32, f64. Windows
// are added in row-major order, beginning with 0.
//
// The vector kernel gathers: a row of dx is made, phase by phase (pool.hpp),
// from the rows of g whose windows reach it, and no sum is read back.
#pragma once

#include "neap/kernels/conv/pool.hpp"

namespace neap::kernels {

///   in[0]  g      (n, c, oh, ow)  any strides
///   in[1]  codes  (n, c plane_code_bytes)  u8, any strides
///   out[0] dx     (n, c, h, w)    dense
extern const KernelList max_pool2d_grad_kernels;

}  // namespace neap::kernels
