// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// gelu, exact and by tanh (Hendrycks and Gimpel, 2016), and their derivative
// rules. No attributes; f32, f64; any strides; outputs may be inputs.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = x P(x), P(x) = (1 + erf(x / sqrt 2)) / 2
extern const KernelList gelu_kernels;

/// dx = g (P(x) + x P'(x)), from g and x, which broadcast
extern const KernelList gelu_grad_kernels;

/// y = x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3)
extern const KernelList gelu_tanh_kernels;

/// Its dx, from g and x, which broadcast.
extern const KernelList gelu_tanh_grad_kernels;

}  // namespace neap::kernels
