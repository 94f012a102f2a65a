// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// layer_norm and rms_norm: rows along the last axis, normalised. f32, f64.
//
//   layer_norm  xhat = (x - mean) / sqrt(var + eps), var = mean (x - mean)^2
//   rms_norm    xhat = x / sqrt(mean x^2 + eps)
//   y = xhat w + b
//
// Sums along a row: blocks of kReduceBlock elements; a block has kNormPartials
// partial results of the row's dtype, element j going to partial j mod
// kNormPartials, joined by halves; blocks are joined in order, in double.
// Summed are x - m and its square, with m the row's first element; where that
// proves to lie further than two standard deviations from the mean, once more
// with m the mean as the dtype has it. So a large offset common to the row
// costs nothing (Chan, Golub and LeVeque, 1983). What a row was normalised with
// is kept in double.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

inline constexpr int kNormPartials = 32;

struct RowNormAttrs {
  double eps = 0.0;
};

///   in[0]  x      (..., n)  any strides
///   in[1]  w      (n)       any stride; may be absent
///   in[2]  b      (n)       any stride; may be absent
///   out[0] y      (..., n)  any strides, may be x
///   out[1] stats  (..., 2)  f64, dense: mean and 1 / sqrt(var + eps)
extern const KernelList layer_norm_kernels;

///   in[0]  x      (..., n)  any strides
///   in[1]  w      (n)       any stride; may be absent
///   out[0] y      (..., n)  any strides, may be x
///   out[1] stats  (..., 1)  f64, dense: 1 / sqrt(mean x^2 + eps)
extern const KernelList rms_norm_kernels;

}  // namespace neap::kernels
