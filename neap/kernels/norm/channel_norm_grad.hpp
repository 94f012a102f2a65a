// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The derivative rules of batch_norm and group_norm (channel_norm.hpp). f32,
// f64. With g = dy w, means over a cell, and scale = 1 / sqrt(var + eps),
//
//   dx = scale (g - mean g - xhat mean(g xhat))
//   dw = sum over samples and s of dy xhat, db = sum of dy
//
// xhat is made again from x and the statistics. Sums are those of
// channel_norm.hpp; of group_norm's dw and db, samples are added in order, in
// double.
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// An output that is not wanted has the shape (0).
struct ChannelNormGradAttrs {
  double eps = 0.0;
  std::int64_t groups = 0;  // 0: over the batch
  bool dx = false;
  bool dw = false;
  bool db = false;
  std::array<bool, 5> padding{};
};

///   in[0]  dy     (n, c, s)  any strides
///   in[1]  x      (n, c, s)  any strides
///   in[2]  stats  f64, any strides, as the norm gave them
///   in[3]  w      (c)        any stride; may be absent
///   out[0] dx     (n, c, s)  any strides, may be dy or x
///   out[1] dw     (c)        dense
///   out[2] db     (c)        dense
extern const KernelList batch_norm_grad_kernels;
extern const KernelList group_norm_grad_kernels;

/// The sums over samples of group_norm alone, onto what is there: those of some
/// samples go on from those before. dw and db are these, rounded once.
///   in[0..2]  dy, x and stats, as above
///   out[..]   (c) f64, dense: dw where wanted, db where wanted; read and
///             written
extern const KernelList group_norm_sums_kernels;

}  // namespace neap::kernels
