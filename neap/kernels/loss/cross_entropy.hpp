// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// cross_entropy: -ln softmax(x)[label] of N samples, reduced, and its
// derivative rule. CrossEntropyAttrs; f32, f64 (key operand in[0]).
#pragma once

#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/loss/loss_attrs.hpp"

namespace neap::kernels {

/// loss_i = lse_i - (1 - s) x[i, label_i] - s mean_c x[i, c],
/// lse_i = ln sum_c e^x[i, c], s = label_smoothing; their mean, sum, or (N).
///   in[0]  x       (N, C)    logits, any strides
///   in[1]  labels  (N)       i64, any stride
///   out[0] loss    () or (N) dtype of x
///   out[1] lse     (N)       dtype of x, any stride
/// Sums over samples are in double and in index order. A sample to be ignored
/// has loss 0; the mean is over the others, 0 where there is none. A label
/// outside [0, C) makes the loss NaN.
extern const KernelList cross_entropy_kernels;

/// dx = (e^(x - lse) - (1 - s) onehot - s / C) g, for a mean g / n with n the
/// samples that count; 0 for samples to be ignored
///   in[0]  g       () or (N) cotangent of the loss
///   in[1]  x       (N, C)    logits, any strides
///   in[2]  labels  (N)       i64, any stride
///   in[3]  lse     (N)       out[1] of cross_entropy
///   out[0] dx      (N, C)    any strides, may be x
/// A label outside [0, C) makes its row NaN.
extern const KernelList cross_entropy_grad_kernels;

}  // namespace neap::kernels
