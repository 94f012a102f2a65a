// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax along AxisAttrs::axis, and their derivative rules.
// f32, f64. The order of sums is in softmax-inl.hpp; threads divide rows. m is
// the largest x of the row.
//
// Forward:
//   in[0]  x  any strides
//   out[0] y  any strides, shape of x, may be x
//
// Derivative:
//   in[0]  g  cotangent of y, any strides
//   in[1]  y  the forward's output, any strides
//   out[0] dx any strides, shape of g, may be g or y
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = e^(x - m) / sum e^(x - m)
extern const KernelList softmax_kernels;

/// dx = y (g - sum g y)
extern const KernelList softmax_grad_kernels;

/// y = x - m - ln sum e^(x - m)
extern const KernelList log_softmax_kernels;

/// dx = g - e^y sum g
extern const KernelList log_softmax_grad_kernels;

}  // namespace neap::kernels
