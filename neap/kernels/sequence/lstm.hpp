// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// lstm: long short-term memory over a sequence (recurrent.hpp). f32, f64.
// T steps, b samples, f features, h units; the gates are i, f, g, o in this
// order, each of h columns.
//
//   c_t = sigmoid(f) c_(t-1) + sigmoid(i) tanh(g), h_t = sigmoid(o) tanh(c_t)
//
// RecurrentAttrs:
//   in[0]  x      (T, b, f)   any strides
//   in[1]  w_ih   (4h, f)     any strides
//   in[2]  w_hh   (4h, h)     any strides
//   in[3]  bias   (4h)        dense
//   in[4]  h0     (b, h)      dense; with has_state
//   in[5]  c0     (b, h)      dense; with has_state
//   out[0] y      (T, b, h)   h of every step
//   out[1] h_n    (b, h)      of the last
//   out[2] gates  (T, b, 4h)  after sigmoid or tanh; (0) unless `keeps`
//   out[3] c      (T, b, h)   (1, b, h), the last, unless `keeps`
//
// lstm_grad: d gates before sigmoid and tanh. RecurrentGradAttrs; each operand
// from in[3] on is there where its flag says so.
//   in[0]  gates  (T, b, 4h)  dense
//   in[1]  w_hh   (4h, h)     any strides
//   in[2]  c      (T, b, h)   dense
//   in[..] c0     (b, h)      dense; has_state
//   in[..] dy     (T, b, h)   units dense; has_dy
//   in[..] dh_n   (b, h)      dense; has_dh
//   in[..] dc     (T, b, h)   dense, of c itself; has_dc
//   in[..] dc_n   (b, h)      dense, dc0 of the steps that follow; has_last_dc
//   out[0] dgates (T, b, 4h)  may be gates
//   out[1] dh0    (b, h)      (0) unless wants_state
//   out[2] dc0    (b, h)      (0) unless wants_state
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList lstm_kernels;
extern const KernelList lstm_grad_kernels;

}  // namespace neap::kernels
