// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Activations that leave large x as it is and bend towards a constant below
// 0, and their derivatives, dx = g f'(v), where v is the output y of elu and
// the input x of the others. f32, f64. relu and leaky_relu keep bits for a
// derivative: relu_bits.hpp.
//   in[0]  x or g   (...)  any strides
//   in[1]  v        (...)  any strides, dtype of the first
//   out[0] y or dx  (...)  any strides, may be an input that is shaped as it
// Two inputs broadcast by NumPy's rule. NaN stays; relu(-0) = 0.
//
//   relu            max(x, 0)
//   leaky_relu      x > 0 ? x : slope x            SlopeAttrs
//   elu             x > 0 ? x : alpha (e^x - 1)    EluAttrs
//   elu_grad        y > 0 ? g : g (y + alpha)      EluAttrs
//   softplus        ln(1 + e^(beta x)) / beta, and x where beta x > threshold;
//                   SoftplusAttrs
//   softplus_grad   g sigmoid(beta x), and g where beta x > threshold;
//                   SoftplusAttrs
//   gelu            x P(x), P(x) = (1 + erf(x / sqrt 2)) / 2
//   gelu_grad       g (P(x) + x P'(x))
//   gelu_tanh       x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3)
//   gelu_tanh_grad  its g dy/dx
//
// elu: Clevert et al., ICLR 2016; gelu: Hendrycks and Gimpel, 2016.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

#define NEAP_ATTRS_ROW(name, ...) extern const KernelList name##_kernels;
#define NEAP_ROW(name, ...) extern const KernelList name##_kernels;
#include "neap/kernels/activation/rectifiers.inc"
#undef NEAP_ROW
#undef NEAP_ATTRS_ROW

}  // namespace neap::kernels
