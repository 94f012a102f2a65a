// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// conv2d and the relu of what it makes, some samples at a time, so that relu
// finds its elements in the cache. The same bits as one after the other.
// ConvAttrs; f32, f64. What a derivative reads is in the second form alone.
//   in[0]  x, in[1] w, [in[2] bias]   as of conv2d
//   out[0] y     (n, o, oh, ow)       dense
//   out[1] bits  (ceil(elements / 8)) u8: y > 0, as of relu_bits
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList conv2d_relu_kernels;
extern const KernelList conv2d_relu_bits_kernels;

}  // namespace neap::kernels
