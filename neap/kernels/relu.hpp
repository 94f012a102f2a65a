// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// relu: y = max(x, 0), and its derivative rule. No attributes. f32, f64.
#pragma once

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

/// y = max(x, 0). relu(NaN) = NaN; relu(-0) = 0.
///   in[0]  x  (...)  any strides
///   out[0] y  (...)  any strides, may be x
extern const KernelList relu_kernels;

/// dx = y > 0 ? g : 0; so 0 where x = 0.
///   in[0]  g  (...)  cotangent of y, any strides
///   in[1]  y  (...)  the output of relu, any strides
///   out[0] dx (...)  any strides, may be g or y
/// g and y broadcast to dx.
extern const KernelList relu_grad_kernels;

}  // namespace neap::kernels
