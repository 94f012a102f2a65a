// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// adam: one step in place, one pass, AdamAttrs. PyTorch's formulas
// (torch.optim.Adam; with `decoupled` torch.optim.AdamW). f32, f64.
//   in[0]  grad   (...)  any strides
//   out[0] param  (...)  any strides, read and written
//   out[1] m      (...)  first moment, read and written, zeros before step 1
//   out[2] v      (...)  second moment, likewise
// g = +-grad_scale grad                             (minus with maximize)
// decoupled: param *= 1 - lr weight_decay; else g += weight_decay param
// m += (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g g
// param -= (lr / bias_correction1) m / (sqrt(v) / sqrt(bias_correction2) + eps)
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList adam_kernels;

}  // namespace neap::kernels
