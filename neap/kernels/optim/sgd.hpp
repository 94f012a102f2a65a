// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sgd: one step in place, one pass, SgdAttrs. PyTorch's formula
// (torch.optim.SGD). f32, f64.
//   in[0]  grad      (...)  any strides
//   out[0] param     (...)  any strides, read and written
//   out[1] momentum  (...)  buffer, read and written; absent if momentum is 0
// g = +-grad_scale grad + weight_decay param        (minus with maximize)
// buffer = is_first_step ? g : momentum buffer + (1 - dampening) g
// param -= lr (nesterov ? g + momentum buffer : buffer)
// Without a buffer: param -= lr g. On the first step the buffer is not read.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList sgd_kernels;

}  // namespace neap::kernels
