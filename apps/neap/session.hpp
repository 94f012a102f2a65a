// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A session: a training run from its data to its test pass. All that lives
// while it runs is freed before the last report, so that "live at exit" can
// show that nothing stays.
#pragma once

#include <optional>
#include <string>

#include "exit_code.hpp"
#include "neap/base/result.hpp"
#include "run_view.hpp"
#include "settings.hpp"
#include "summary.hpp"

namespace neap::app {

/// A run that is over, for its report.
struct RunEnd {
  ExitCode failure = ExitCode::kOk;  // of the run, which has no report then
  ExitCode code = ExitCode::kOk;  // of its end, or of the signal that ended it
  std::optional<Failure> output_failure;  // of an output, told after the report
  std::string table;
};

/// Trains as the settings say, and tests; `summary` gets what there is to say.
/// THROWS: OutOfMemory; whatever a layer throws.
RunEnd run_session(const TrainSettings& settings, RunView& view,
                   Summary& summary);

}  // namespace neap::app
