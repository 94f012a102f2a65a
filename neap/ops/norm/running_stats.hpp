// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The statistics that a batch_norm keeps of its batches. For sources of ops
// only.
#pragma once

#include "neap/kernels/norm/running_stats.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::ops {

struct RunningStats {
  Tensor mean;
  Tensor var;
  Tensor batches;  // may be undefined
};

/// Whether `running` can be written for x of `channels` channels.
/// THROWS: ShapeError, DTypeError, DeviceError, GraphError.
void check_running_stats(std::string_view op, const RunningStats& running,
                         std::int64_t channels, const Tensor& x);

/// Moves them towards `stats`, (c, 2) in f64; nothing in what runs again.
/// REQUIRES: check_running_stats. THROWS: in a trace, as Trace::write.
void move_running_stats(const RunningStats& running, const Tensor& stats,
                        const kernels::RunningStatsAttrs& attrs,
                        const CallSite& site);

}  // namespace neap::ops
