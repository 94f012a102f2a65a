// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// sigmoid: y = 1 / (1 + e^-x), and its derivative rule. No attributes. f32,
// f64.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = 1 / (1 + e^-x). sigmoid(NaN) = NaN.
///   in[0]  x  (...)  any strides
///   out[0] y  (...)  any strides, may be x
extern const KernelList sigmoid_kernels;

/// dx = g y (1 - y).
///   in[0]  g  (...)  cotangent of y, any strides
///   in[1]  y  (...)  the output of sigmoid, any strides
///   out[0] dx (...)  any strides, may be g or y
/// g and y broadcast to dx.
extern const KernelList sigmoid_grad_kernels;

}  // namespace neap::kernels
