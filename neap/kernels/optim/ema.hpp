// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ema: one step of an exponential moving average, EmaAttrs. f32, f64.
//   in[0]  value    (...)  any strides
//   out[0] average  (...)  any strides, read and written
// average += (1 - decay) (value - average)
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

struct EmaAttrs {
  double decay = 0.999;
};

extern const KernelList ema_kernels;

}  // namespace neap::kernels
