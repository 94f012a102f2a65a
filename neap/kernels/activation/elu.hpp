// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// elu (Clevert et al., ICLR 2016) and its derivative rule. EluAttrs; f32, f64;
// any strides; outputs may be inputs.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = x > 0 ? x : alpha (e^x - 1)
extern const KernelList elu_kernels;

/// dx = y > 0 ? g : g (y + alpha), from g and the output y, which broadcast
extern const KernelList elu_grad_kernels;

}  // namespace neap::kernels
