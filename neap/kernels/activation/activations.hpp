// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Activations of one operand and no parameters, y = f(x), and their
// derivatives, dx = g s(v), where v is the output y of sigmoid, tanh and
// log_sigmoid, and the input x of silu (also named swish) and mish (Misra,
// 2019); swiglu: y = silu(a) b. No attributes. f32, f64.
//   in[0]  x, g or a  (...)  any strides
//   in[1]  v or b     (...)  any strides, dtype of the first
//   out[0] y or dx    (...)  any strides, may be an input that is shaped as it
// Two inputs broadcast by NumPy's rule. NaN stays.
//
//   sigmoid      1 / (1 + e^-x)          sigmoid_grad      g y (1 - y)
//   tanh         tanh x                  tanh_grad         g (1 - y y)
//   log_sigmoid  -ln(1 + e^-x)           log_sigmoid_grad  g (1 - e^y)
//   silu         x / (1 + e^-x)          silu_grad         g s (1 + x (1 - s))
//   mish         x w                     mish_grad         g (w + x w')
//   hard_swish   x min(x + 3, 6) / 6, and 0 where x <= -3
//
// where s = sigmoid(x) and w = tanh(ln(1 + e^x)).
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

#define NEAP_ROW(name, ...) extern const KernelList name##_kernels;
#include "neap/kernels/activation/activations.inc"
#undef NEAP_ROW

}  // namespace neap::kernels
