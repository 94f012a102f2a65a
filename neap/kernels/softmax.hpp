// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// softmax along AxisAttrs::axis, and its derivative rule. f32, f64. The order
// of sums is in softmax-inl.hpp; threads divide rows.
#pragma once

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

/// y = e^(x - m) / sum e^(x - m), m = largest x of the row
///   in[0]  x  any strides
///   out[0] y  any strides, shape of x, may be x
extern const KernelList softmax_kernels;

/// dx = y (g - sum g y)
///   in[0]  g  cotangent of y, any strides
///   in[1]  y  the output of softmax, any strides
///   out[0] dx any strides, shape of g, may be g or y
extern const KernelList softmax_grad_kernels;

}  // namespace neap::kernels
