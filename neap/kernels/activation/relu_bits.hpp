// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// relu and leaky_relu with what their derivative needs, one bit an element, and
// that derivative. SlopeAttrs; f32, f64 (key operand in[0]).
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = x > 0 ? x : slope x, for a slope of 0 as relu.
///   in[0]  x     (...)          any strides
///   out[0] y     (...)          any strides, may be x
///   out[1] bits  (ceil(n / 8))  u8: x > 0, for a slope of 0 NaN too (it is not
///                               <= 0), laid out as bits.hpp says
extern const KernelList relu_bits_kernels;

/// dx = bit ? g : slope g, for a slope of 0 exactly 0.
///   in[0]  g     (...)          any strides
///   in[1]  bits  (ceil(n / 8))  u8, out[1] of relu_bits
///   out[0] dx    (...)          any strides, may be g
extern const KernelList relu_grad_kernels;

}  // namespace neap::kernels
