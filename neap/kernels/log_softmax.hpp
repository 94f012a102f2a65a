// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// log_softmax along AxisAttrs::axis, and its derivative rule. f32, f64.
// The order of sums is in softmax-inl.hpp; threads divide rows.
#pragma once

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

/// y = x - m - ln sum e^(x - m), m = largest x of the row
///   in[0]  x  any strides
///   out[0] y  any strides, shape of x, may be x
extern const KernelList log_softmax_kernels;

/// dx = g - e^y sum g
///   in[0]  g  cotangent of y, any strides
///   in[1]  y  the output of log_softmax, any strides
///   out[0] dx any strides, shape of g, may be g or y
extern const KernelList log_softmax_grad_kernels;

}  // namespace neap::kernels
