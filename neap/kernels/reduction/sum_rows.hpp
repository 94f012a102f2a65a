// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The sum of a matrix over its rows, of which some come at a time, to the bits
// of sum over axis 0: what reduce.hpp says a sum can be continued with is kept
// in between, for each column the total in double and the block begun.
//
//   state  (2, C)  f64, dense: totals, then blocks (numbers of x's dtype);
//                  zeros before the first rows
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

struct SumRowsAttrs {
  std::int64_t first = 0;  // how many rows came before
};

/// Goes on with some rows.
///   in[0]  x      (n, C)   any strides; f32, f64
///   out[0] state  (2, C)   read and written
extern const KernelList sum_rows_kernels;

/// The sum, once all rows came.
///   in[0]  state  (2, C)
///   out[0] y      (..., C) f32 or f64; C elements, dense
extern const KernelList sum_rows_end_kernels;

}  // namespace neap::kernels
