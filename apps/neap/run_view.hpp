// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// RunView: what a training run shows of its step: the files of --page,
// --snapshot and --trace, and the table of --profile.
#pragma once

#include <optional>
#include <string>

#include "neap/compile/profile.hpp"
#include "neap/report/step_log.hpp"
#include "neap/train/trainer.hpp"
#include "view_files.hpp"

namespace neap::app {

class RunView {
 public:
  /// LIFETIME: both outlive it.
  RunView(const TrainSettings& settings, const memory::Domain& domain)
      : settings_(settings), domain_(domain) {}

  /// The place for times of calls; null where nobody asks for them.
  compiler::Profile* profile() noexcept {
    return settings_.profile ? &profile_ : nullptr;
  }
  /// Keeps what is shown of the plan, and writes the files of it: a run that is
  /// killed leaves them, too.
  void note_plan(const train::Trainer& trainer);
  void note_step(const train::StepReport& report);
  /// Training has ended: steps and times of calls are known.
  void note_end();
  /// Writes the files again, with these and the most that was held.
  void finish();
  /// The same where a request was refused after the plan: `why` is among the
  /// refusals.
  void refuse(std::string_view why);
  /// The place of times is memory of the run's, which is to be freed with it.
  void drop_profile() { profile_ = {}; }
  /// The table of --profile; empty without it. REQUIRES: note_end() was called.
  std::string profile_text() const;
  /// A failure of a file, told at the end, as that of a save.
  const std::optional<Failure>& failure() const noexcept { return failure_; }

 private:
  void write();

  const TrainSettings& settings_;
  const memory::Domain& domain_;
  compiler::Profile profile_;
  std::optional<report::Snapshot> view_;  // none: nothing is shown
  std::optional<report::StepLog> steps_;  // likewise
  std::optional<Failure> failure_;
};

}  // namespace neap::app
