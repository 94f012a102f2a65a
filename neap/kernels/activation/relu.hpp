// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// relu: y = max(x, 0). No attributes. leaky_relu: SlopeAttrs. f32, f64. The
// forms that keep bits for a derivative are in relu_bits.hpp.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = max(x, 0). relu(NaN) = NaN; relu(-0) = 0.
///   in[0]  x  (...)  any strides
///   out[0] y  (...)  any strides, may be x
extern const KernelList relu_kernels;

/// y = x > 0 ? x : slope x.
///   in[0]  x  (...)  any strides
///   out[0] y  (...)  any strides, may be x
extern const KernelList leaky_relu_kernels;

}  // namespace neap::kernels
