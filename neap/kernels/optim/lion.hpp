// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// lion: one step in place, one pass, LionAttrs. Chen et al., "Symbolic
// discovery of optimization algorithms" (2023), algorithm 2. f32, f64.
//   in[0]  grad   (...)  any strides
//   out[0] param  (...)  any strides, read and written
//   out[1] m      (...)  momentum, read and written, zeros before step 1
// g = +-grad_scale grad                             (minus with maximize)
// u = sign(m + (1 - beta1) (g - m))       0 for 0, NaN for NaN
// param = (1 - lr weight_decay) param - lr u
// m += (1 - beta2) (g - m)
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList lion_kernels;

}  // namespace neap::kernels
