// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// cross_entropy: the mean over N samples of -ln softmax(x)[label], and its
// derivative rule. No attributes. f32, f64 (key operand in[0]).
#pragma once

#include "neap/kernels/kernel.hpp"

namespace neap::kernels {

/// loss = (1/N) sum_i (lse_i - x[i, label_i]), lse_i = ln sum_c e^x[i, c]
///   in[0]  x       (N, C)  logits, any strides
///   in[1]  labels  (N)     i64, any stride
///   out[0] loss    ()      rank 0, dtype of x
///   out[1] lse     (N)     dtype of x, any stride
/// The sum over samples is in double and in index order. N = 0 gives loss 0. A
/// label outside [0, C) makes the loss NaN.
extern const KernelList cross_entropy_kernels;

/// dx = (e^(x - lse) - onehot) g / N
///   in[0]  g       ()      cotangent of the loss
///   in[1]  x       (N, C)  logits, any strides
///   in[2]  labels  (N)     i64, any stride
///   in[3]  lse     (N)     out[1] of cross_entropy
///   out[0] dx      (N, C)  any strides, may be x
/// A label outside [0, C) makes its row NaN.
extern const KernelList cross_entropy_grad_kernels;

}  // namespace neap::kernels
