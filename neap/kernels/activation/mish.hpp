// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// mish (Misra, 2019) and its derivative rule. No attributes; f32, f64; any
// strides; outputs may be inputs.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = x tanh(ln(1 + e^x))
extern const KernelList mish_kernels;

/// dx = g (w + x w'), w = tanh(ln(1 + e^x)), from g and x, which broadcast
extern const KernelList mish_grad_kernels;

}  // namespace neap::kernels
