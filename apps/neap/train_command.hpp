// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// `neap train`: reads the data, trains, reports where the memory went.
#pragma once

#include "exit_code.hpp"
#include "settings.hpp"

namespace neap::app {

/// Prints to standard output (report) and standard error (progress, the one
/// line of a failure).
ExitCode train(const TrainSettings& settings);

}  // namespace neap::app
