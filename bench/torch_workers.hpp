// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The newest PyTorch (scripts/newest_torch.py), eagerly and by torch.compile;
// where there is none, the distribution's, in one process for each BLAS that it
// can be given. Which one is best depends on the machine and the model.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/measure.hpp"
#include "support/report.hpp"
#include "support/worker.hpp"

namespace neap::bench {

struct TorchWorker {
  std::string on;      // "compile", "openblas-openmp"
  std::string column;  // the same in a table
  std::unique_ptr<Worker> worker;
};

/// The interpreter of the newest PyTorch; empty: there is none.
std::string newest_python();

/// Starts the workers that can be had; the report says which cannot, and why.
std::vector<TorchWorker> start_torch_workers(int threads, Report& report);

// Both below: one timing a peer, in their order.

/// Makes the fastest peer the row's, with its name, its milliseconds and its
/// tenth percentile; returns it. REQUIRES: a peer.
Worker& add_best(Row& row, std::span<const Timing> timings,
                 std::vector<TorchWorker>& peers);
/// A column for each peer: milliseconds.
void add_columns(Row& row, std::span<const Timing> timings,
                 const std::vector<TorchWorker>& peers);

}  // namespace neap::bench
