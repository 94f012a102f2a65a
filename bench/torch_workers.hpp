// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PyTorch from the distribution, in one process for each BLAS that it can be
// given: which one is best depends on the machine, the threads and the model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/report.hpp"
#include "support/worker.hpp"

namespace neap::bench {

struct TorchWorker {
  std::string blas;    // "openblas-openmp"
  std::string column;  // the same in a table
  std::unique_ptr<Worker> worker;
};

/// Those that can be had; the report says which cannot, and why. `script`: of
/// bench/peers/.
std::vector<TorchWorker> start_torch_workers(
    int threads, Report& report, const std::string& script = "mlp_torch.py");

}  // namespace neap::bench
