// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A training run as far as its first step, in a domain without memory behind
// tensors: the same requests as `neap train` makes, so the same figures.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neap/base/result.hpp"
#include "neap/compile/fit.hpp"
#include "neap/dist/traffic.hpp"
#include "neap/program/program.hpp"
#include "neap/report/snapshot.hpp"
#include "settings.hpp"

namespace neap::app {

/// Results of a dry run, known before the first step. Bytes.
struct Rehearsal {
  using Named = std::vector<std::pair<std::string, Bytes>>;

  Bytes peak = 0;       // held at most
  Bytes live_peak = 0;  // live at most
  Bytes external = 0;   // of this process, before the run
  Bytes arena = 0;
  Bytes lower_bound = 0;  // of the arena
  bool is_proven = false;
  Bytes persistent = 0;       // parameters, buffers, optimizer state
  Bytes workspace = 0;        // in the arena, at its peak
  Bytes data_set = 0;         // part of the peak
  compiler::Fitting fitting;  // of the step into its arena
  compiler::Sharding sharding;
  compiler::StateParts state;  // of the optimizer, where ranks share it out
  std::optional<dist::Traffic> traffic;  // of several ranks, by --network
  Named by_category;                     // of all that lives at the peak
  Named by_layer;
  Named live;  // what lies in the arena at its peak, largest first
  std::string peak_step;
  std::int64_t peak_call = 0;
  std::int64_t calls = 0;
  std::int64_t parameters = 0;
  double plan_seconds = 0.0;  // from nothing to the plan
};

/// One step of training with these settings and `batch` samples; before it what
/// it goes on from is loaded, and after it the run is saved, where the settings
/// say so. REQUIRES: check_task(settings) where has_task(settings). Fails where
/// the data set or the checkpoint cannot be read, or the checkpoint is of
/// another model or optimizer. With a limit of the arena it keeps to the
/// budget, too. THROWS: PlanError, OutOfMemory.
Result<Rehearsal> rehearse(const TrainSettings& settings, std::int64_t batch);

/// The bytes that the same run needs without a plan, those of the process
/// included: an eager dry run as far as its third step, and its pass over the
/// test part. REQUIRES: has_task(settings). Fails as rehearse(). THROWS:
/// OutOfMemory.
Result<Bytes> eager_need(TrainSettings settings);

/// The step of such a run as it would be before the first one (view_of()).
/// Fails as rehearse(). THROWS: OutOfMemory, PlanError.
Result<report::Snapshot> rehearsed_view(const TrainSettings& settings,
                                        std::int64_t batch);

using FitCurve = std::vector<compiler::FitPoint>;

/// All arenas that the step of `batch` samples can be made to fit, as
/// compiler::fit. Fails as rehearse(). THROWS: OutOfMemory.
Result<FitCurve> fit_curve(const TrainSettings& settings, std::int64_t batch);

}  // namespace neap::app
