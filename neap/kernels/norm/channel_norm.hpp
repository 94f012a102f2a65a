// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// batch_norm and group_norm: x of (n, c, s), normalised by the mean and the
// variance of cells of it, then scaled and shifted by channel. f32, f64.
//
//   batch_norm  (groups 0) a cell is a channel, over all samples
//   group_norm  a cell is one sample's channels of a group, c / groups of them
//   y = (x - mean) / sqrt(var + eps) w + b, var = mean (x - mean)^2
//
// Sums: the planes (n, c) of a cell follow one another, samples first, and are
// cut in pieces of kReduceBlock elements; pieces are gathered to blocks of at
// least as many. A block has kChannelPartials partial results of the dtype,
// element j of a piece going to partial j mod kChannelPartials, joined by
// halves; blocks are joined in order, in double. Where s is 1, a batch_norm
// adds up columns instead, blocks of kReduceBlock samples in plain order.
//
// Summed are x - m and its square, with m the cell's first element; where that
// proves to lie further than four standard deviations from the mean, once more
// with m the mean as the dtype has it. So a large offset common to the cell
// costs nothing (Chan, Golub and LeVeque, 1983).
//
// Threads divide channels (several where they are short, so that what is read
// at a time is not) or cells; a cell is gone over twice while it is in the
// cache.
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

inline constexpr int kChannelPartials = 32;

struct ChannelNormAttrs {
  double eps = 0.0;
  std::int64_t groups = 0;  // 0: over the batch
};

///   in[0]  x      (n, c, s)       any strides
///   in[1]  w      (c)             any stride; may be absent
///   in[2]  b      (c)             any stride; may be absent
///   out[0] y      (n, c, s)       any strides, may be x
///   out[1] stats  (c, 2) or (n, groups, 2)  f64, dense: mean and variance
extern const KernelList batch_norm_kernels;
extern const KernelList group_norm_kernels;

}  // namespace neap::kernels
