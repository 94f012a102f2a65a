// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// `neap fit`: all budgets that a training run can be made to fit, and what each
// costs, before anything runs.
#pragma once

#include "exit_code.hpp"
#include "settings.hpp"

namespace neap::app {

/// With check_train_files() passed, and the precision and threads of the
/// settings in use. Prints to standard output (report) and standard error (how
/// far it is, and the lines of a failure). kMemory where no plan meets the
/// budget.
ExitCode fit(const TrainSettings& settings);

}  // namespace neap::app
