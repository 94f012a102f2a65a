// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// rmsprop: one step in place, one pass, RmspropAttrs. PyTorch's formulas
// (torch.optim.RMSprop). f32, f64.
//   in[0]  grad   (...)  any strides
//   out[0] param  (...)  any strides, read and written
//   out[1] v      (...)  mean of squares, read and written, zeros before step 1
//   out[2] buffer (...)  of the momentum, likewise; absent without one
// g = +-grad_scale grad + weight_decay param        (minus with maximize)
// v = alpha v + (1 - alpha) g g
// with a buffer: buffer = momentum buffer + g / (sqrt(v) + eps)
//                param -= lr buffer
// without:       param -= lr g / (sqrt(v) + eps)
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList rmsprop_kernels;

}  // namespace neap::kernels
