// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The training loop: fit() runs a Trainer for some epochs or steps, measures
// other data now and then (evaluator.hpp), and lets callbacks watch and stop
// it.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "neap/train/evaluator.hpp"
#include "neap/train/trainer.hpp"

namespace neap::train {

enum class Next { kContinue, kStop };
/// Called after each step.
using OnStep = std::function<Next(const StepReport&)>;

/// Called before the first step. With TrainerOptions::compile everything that
/// the steps need is there by then, and they ask for no more; what a save will
/// allocate was allocated once, so that the peak is known.
using OnReady = std::function<void(const Trainer&)>;

/// The times at which a run is saved as a checkpoint: at its end (a stop by the
/// callback is one), and now and then before. A save that fails is tried again
/// with the next one; the run continues.
struct SavePlan {
  std::string path{};            // empty: never
  std::int64_t every_steps = 0;  // 0: not by steps
  double every_seconds = 0.0;    // 0: not by time
};

/// Passes over other data between steps: after each step whose number the
/// interval divides, before a save. They have the averages in the places of
/// their tensors where the trainer has averages, and its plateau is told of
/// their loss; a run that is resumed has the rates of one that was not
/// interrupted.
struct TestPlan {
  /// nullptr: there are none. LIFETIME: beyond fit().
  data::Loader* loader = nullptr;
  std::int64_t every_steps = 0;  // > 0 where there is a loader
  /// Compiled, they are planned before the first step, and need no more.
  EvaluateOptions options{};
  /// Told of each, with the steps done; empty: nobody is.
  std::function<void(std::int64_t step, const Evaluation&)> on_evaluation{};
};

struct FitOptions {
  std::int64_t epochs = 1;
  std::int64_t steps = 0;  // > 0: this many steps instead of epochs
  /// A checkpoint to resume from, to the same end as the run that saved it;
  /// empty: none.
  std::string resume{};
  /// Whether that checkpoint's checksums are compared.
  formats::Verify verify = formats::Verify::kOn;
  SavePlan save{};
  Facts facts{};                // facts of both (Trainer::save)
  files::Door* door = nullptr;  // door for both; null: the system's
  TrainerOptions trainer{};
  TestPlan test{};
  /// Gets the times of a compiled step's calls, the least of so many steps from
  /// the second on; null: none are taken. LIFETIME: beyond fit().
  compiler::Profile* profile = nullptr;
  int profiled_steps = 5;
  OnStep on_step{};    // empty: none
  OnReady on_ready{};  // empty: nobody is told
};

struct FitResult {
  std::int64_t steps = 0;    // done; with those before a resume
  std::int64_t resumed = 0;  // steps done before this run, among `steps`
  double seconds = 0.0;
  /// NaN where no step was left to do.
  double last_loss = std::numeric_limits<double>::quiet_NaN();
  bool is_stopped = false;  // true: a callback stopped it
  /// The resume failed: nothing was done, and everything is unchanged.
  std::optional<Failure> resume_failure{};
  /// A failure of the latest save; the file is an earlier one, or not there.
  std::optional<Failure> save_failure{};
};

/// Trains `model` in training mode; every module's mode is restored. THROWS: as
/// Trainer::step, with the state of before the step that failed; as
/// Evaluator::run, with that of after the latest one; ValueError for a plan of
/// tests without an interval, or without data, before anything is done.
NEAP_API FitResult fit(nn::Layer& model, optim::Optimizer& optimizer,
                       data::Loader& loader, const FitOptions& options,
                       CallSite site = CallSite::here());

}  // namespace neap::train
