// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// neap launch: runs neap train on several ranks under mpirun, and starts it
// again from its last checkpoint where a rank was lost, until it has ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exit_code.hpp"
#include "settings.hpp"

namespace neap::app {

struct LaunchSettings {
  std::string ranks;  // "4,2": of the first start, of the next, ...
  std::int64_t restarts = 10;
  std::string mpirun;              // its path; empty: found in PATH
  std::string options;             // of mpirun's, between spaces
  std::vector<std::string> words;  // "train" and its options
};

/// `job`: what those words say. RETURNS: the status of the last run; that of
/// the signal that ended it; kUsage where nothing was started.
ExitCode launch(const LaunchSettings& settings, const TrainSettings& job);

}  // namespace neap::app
