// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// silu, also named swish, and its derivative rule. No attributes; f32, f64; any
// strides; outputs may be inputs.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = x / (1 + e^-x)
extern const KernelList silu_kernels;

/// dx = g s (1 + x (1 - s)), s = sigmoid(x), from g and x, which broadcast
extern const KernelList silu_grad_kernels;

}  // namespace neap::kernels
