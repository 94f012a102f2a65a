// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// one_hot: y[..., c] = (labels[...] == c) ? 1 : 0. No attributes; C is the last
// extent of out[0]. The key operand is in[0], i64.
//   in[0]  labels  (...)     i64, any strides
//   out[0] y       (..., C)  any dtype, any strides
// A label outside [0, C) gives a row of zeros.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList one_hot_kernels;

}  // namespace neap::kernels
