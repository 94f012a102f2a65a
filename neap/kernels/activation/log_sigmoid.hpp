// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// log_sigmoid and its derivative rule. No attributes; f32, f64; any strides;
// outputs may be inputs.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = -ln(1 + e^-x)
extern const KernelList log_sigmoid_kernels;

/// dx = g (1 - e^y), from g and the output y, which broadcast
extern const KernelList log_sigmoid_grad_kernels;

}  // namespace neap::kernels
