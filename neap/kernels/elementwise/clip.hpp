// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// clip: y = x, no less than ClipAttrs::low and no more than ClipAttrs::high
// (the bounds rounded to the dtype; high wins where they cross). NaN stays.
// f32, f64, i32, i64.
//   in[0]  x  (...)  any strides
//   out[0] y  (...)  any strides, may be x
//
// clip_grad: dx = g where low < x < high, else 0; an infinite bound is none.
// ClipAttrs. f32, f64.
//   in[0]  g  (...)  cotangent of y, any strides
//   in[1]  x  (...)  the input of clip, any strides
//   out[0] dx (...)  any strides, may be g or x
// g and x broadcast to dx.
#pragma once

#include <cmath>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// False for a bound that no number is beyond.
inline bool has_bound(double bound) noexcept {
  return std::isfinite(bound);
}

extern const KernelList clip_grad_kernels;
extern const KernelList clip_kernels;

}  // namespace neap::kernels
