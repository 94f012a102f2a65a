// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The sum over all axes but one in the middle, of which some rows (of axis 0)
// come at a time, to the bits of sum over axes 0 and 2. As with sum_rows.hpp
// what reduce.hpp says a sum can be continued with is kept in between, for each
// channel: the total in double, and the partial results of the block begun.
//
//   state  (C, kPlaneSumState)  f64, dense: a total, then as many bytes of
//                               partial results in x's dtype; zeros before the
//                               first rows
#pragma once

#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/reduction/reduce.hpp"
#include "neap/kernels/reduction/sum_rows.hpp"

namespace neap::kernels {

/// Numbers of a channel's state: partial results are as many bytes for f32 and
/// f64.
inline constexpr std::int64_t kPlaneSumState = 1 + kReducePartials<double>;

/// Goes on with some rows. Attributes: SumRowsAttrs.
///   in[0]  x      (n, C, L)              any strides; f32, f64
///   out[0] state  (C, kPlaneSumState)    read and written
extern const KernelList sum_planes_kernels;

/// The sum, once all rows came.
///   in[0]  state  (C, kPlaneSumState)
///   out[0] y      C elements, dense; f32 or f64
extern const KernelList sum_planes_end_kernels;

}  // namespace neap::kernels
