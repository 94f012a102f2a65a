// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The derivative rules of layer_norm and rms_norm. f32, f64. With g = dy w, and
// sums and means along a row in the order of layer_norm.hpp,
//
//   layer_norm  dx = scale (g - mean g - xhat mean(g xhat))
//   rms_norm    dx = scale (g - xhat mean(g xhat))
//   dw = sum over rows of dy xhat, db = sum over rows of dy
//
// xhat is recomputed from x and the statistics. The sums over rows run in the
// order of the rows, in the row's dtype and beginning with 0, as those of sum
// do (reduce.hpp, columns). Threads divide the rows for dx and the columns for
// dw and db, some rows at a time, so that both find them in the cache.
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// An output that is not wanted has the shape (0).
struct NormGradAttrs {
  double eps = 0.0;  // the norm's, which derivatives of the rule need
  bool dx = false;
  bool dw = false;
  bool db = false;
  std::array<bool, 5> padding{};
};

/// Functions compiled for each instruction set: dx of rows [begin, end), and
/// the sums of these rows for the columns [first, last) of dw and db.
struct NormGradParts {
  void (*dx)(const Args& args, std::int64_t begin, std::int64_t end);
  void (*columns)(const Args& args, std::int64_t begin, std::int64_t end,
                  std::int64_t first, std::int64_t last);
};

///   in[0]  dy     (..., n)  any strides
///   in[1]  x      (..., n)  any strides
///   in[2]  stats  (..., 2)  f64, any strides, as layer_norm gave them
///   in[3]  w      (n)       any stride; may be absent
///   out[0] dx     (..., n)  any strides, may be dy or x
///   out[1] dw     (n)       dense
///   out[2] db     (n)       dense
extern const KernelList layer_norm_grad_kernels;

/// The same with stats (..., 1) and without db.
extern const KernelList rms_norm_grad_kernels;

/// The sums over rows alone, onto what is there: dw and db of some rows go on
/// from those of the rows before, to the bits of all rows at once.
///   in[0..2]  dy, x and stats, as above
///   out[..]   dw where wanted, db where wanted: read and written
extern const KernelList layer_norm_sums_kernels;
extern const KernelList rms_norm_sums_kernels;

}  // namespace neap::kernels
