// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// softplus and its derivative rule. SoftplusAttrs; f32, f64; any strides;
// outputs may be inputs.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = ln(1 + e^(beta x)) / beta, and x where beta x > threshold
extern const KernelList softplus_kernels;

/// dx = g sigmoid(beta x), and g where beta x > threshold, from g and x, which
/// broadcast
extern const KernelList softplus_grad_kernels;

}  // namespace neap::kernels
