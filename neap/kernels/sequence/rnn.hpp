// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// rnn: Elman's network over a sequence (recurrent.hpp). f32, f64. T steps, b
// samples, f features, h units.
//
//   h_t = tanh(x_t w_ih^T + h_(t-1) w_hh^T + bias), or max(0, ...), NaN for NaN
//
// RecurrentAttrs:
//   in[0]  x      (T, b, f)  any strides
//   in[1]  w_ih   (h, f)     any strides
//   in[2]  w_hh   (h, h)     any strides
//   in[3]  bias   (h)        dense
//   in[4]  h0     (b, h)     dense; with has_state
//   out[0] y      (T, b, h)  h of every step
//   out[1] h_n    (b, h)     of the last
//
// rnn_grad: the cotangents of the sums. RecurrentGradAttrs; each operand from
// in[2] on is there where its flag says so.
//   in[0]  y      (T, b, h)  dense
//   in[1]  w_hh   (h, h)     any strides
//   in[..] dy     (T, b, h)  units dense; has_dy
//   in[..] dh_n   (b, h)     dense; has_dh
//   out[0] dsums  (T, b, h)  may be dy, where that is dense
//   out[1] dh0    (b, h)     (0) unless wants_state
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList rnn_kernels;
extern const KernelList rnn_grad_kernels;

}  // namespace neap::kernels
