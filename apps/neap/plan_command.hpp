// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// `neap plan`: what a training run will need, before anything is allocated.
#pragma once

#include "exit_code.hpp"
#include "settings.hpp"

namespace neap::app {

/// With check_train_files() passed, and the precision and threads of the
/// settings in use. Prints to standard output (report) and standard error (the
/// one line of a failure). kMemory where the budget does not suffice.
ExitCode plan(const TrainSettings& settings);

}  // namespace neap::app
