// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The ops that are derivatives of activations: dx = g s(v), with v the input x
// or the output y of the activation. Operands of one shape; f32, f64.
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/activation/activation_attrs.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kSigmoidGrad;
NEAP_API extern const graph::Op kTanhGrad;
NEAP_API extern const graph::Op kLogSigmoidGrad;
NEAP_API extern const graph::Op kSiluGrad;
NEAP_API extern const graph::Op kMishGrad;
NEAP_API extern const graph::Op kGeluGrad;
NEAP_API extern const graph::Op kGeluTanhGrad;
NEAP_API extern const graph::Op kEluGrad;
NEAP_API extern const graph::Op kSoftplusGrad;

NEAP_API Tensor sigmoid_grad(const Operand& g, const Operand& y);
NEAP_API Tensor tanh_grad(const Operand& g, const Operand& y);
NEAP_API Tensor log_sigmoid_grad(const Operand& g, const Operand& y);
NEAP_API Tensor silu_grad(const Operand& g, const Operand& x);
NEAP_API Tensor mish_grad(const Operand& g, const Operand& x);
NEAP_API Tensor gelu_grad(const Operand& g, const Operand& x);
NEAP_API Tensor gelu_tanh_grad(const Operand& g, const Operand& x);
NEAP_API Tensor elu_grad(const Operand& g, const Operand& y,
                         const kernels::EluAttrs& attrs);
NEAP_API Tensor softplus_grad(const Operand& g, const Operand& x,
                              const kernels::SoftplusAttrs& attrs);

}  // namespace neap::ops
