// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// gru: gated recurrent units over a sequence (recurrent.hpp). f32, f64. T
// steps, b samples, f features, h units; the weights' gates are r, z, n in this
// order, each of h rows.
//
//   r = sigmoid(x w_ir^T + h w_hr^T + b_r), z likewise
//   n = tanh(x w_in^T + b_n + r (h w_hn^T + b_hn))
//   h_t = (1 - z) n + z h_(t-1)
//
// The term of n that comes from h, h w_hn^T + b_hn, is kept too. It stands
// first among the kept columns, so that the terms of x for (r, z, n) and those
// of h for (n, r, z) are each one block of columns.
//
// RecurrentAttrs:
//   in[0]  x      (T, b, f)   any strides
//   in[1]  w_ih   (3h, f)     any strides
//   in[2]  w_hh   (3h, h)     any strides
//   in[3]  bias   (4h)        dense: b_hn, b_r, b_z, b_n
//   in[4]  h0     (b, h)      dense; with has_state
//   out[0] y      (T, b, h)   h of every step
//   out[1] h_n    (b, h)      of the last
//   out[2] gates  (T, b, 4h)  what h gives to n, then r, z, n; (0) unless
//                             `keeps`
//
// gru_grad: the cotangents of those four before sigmoid and tanh.
// RecurrentGradAttrs; each operand from in[3] on is there where its flag says
// so.
//   in[0]  gates  (T, b, 4h)  dense
//   in[1]  w_hh   (3h, h)     any strides
//   in[2]  y      (T, b, h)   dense
//   in[..] h0     (b, h)      dense; has_state
//   in[..] dy     (T, b, h)   units dense; has_dy
//   in[..] dh_n   (b, h)      dense; has_dh
//   out[0] dgates (T, b, 4h)  may be gates
//   out[1] dh0    (b, h)      (0) unless wants_state
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList gru_kernels;
extern const KernelList gru_grad_kernels;

}  // namespace neap::kernels
