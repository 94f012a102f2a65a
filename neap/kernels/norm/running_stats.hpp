// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// running_stats: what a batch_norm remembers of its batches, in place.
//   in[0]  stats    (c, 2)  f64, any strides: mean and (biased) variance
//   out[0] mean     (c)     f32 or f64, any stride, read and written
//   out[1] var      (c)     likewise
//   out[2] batches  ()      i64, read and written; may be absent
// batches += 1; mean += m (batch mean - mean), var += m (v - var), with v the
// unbiased variance of `count` elements, and m the momentum or, where that is
// negative, 1 / batches. In double, rounded once.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

struct RunningStatsAttrs {
  double momentum = 0.1;   // negative: the mean over all batches
  std::int64_t count = 0;  // elements of each channel, at least 2
};

extern const KernelList running_stats_kernels;

}  // namespace neap::kernels
