// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ExitReport: what a program is found to have done with its memory, from its
// start to its end, without a line of its own for it (at_exit.hpp).
//
// Thread rule: steps may run in any threads, also while the report is written;
// what they do then is no longer in it. All memory is of the reports' domain.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "neap/compile/watcher.hpp"
#include "neap/memory/scope_member.hpp"
#include "neap/report/growth.hpp"
#include "neap/report/leaks.hpp"
#include "neap/report/snapshot.hpp"
#include "neap/report/step_log.hpp"

namespace neap::report {

class ExitReport final : public compiler::StepWatcher {
 public:
  /// Looks at a domain from now on. `name`: of the program. REQUIRES: within
  /// UseDomain(report_domain()). THROWS: OutOfMemory.
  ExitReport(const memory::Domain& domain, std::string_view name);

  void begin() noexcept override;
  void end() noexcept override;
  void planned(const compiler::Program& program,
               const compiler::Plan& plan) noexcept override;
  void ran(const compiler::Program& program, std::int64_t ns) noexcept override;

  /// The latest of the programs that have the largest arena, or, where no step
  /// was compiled, the domain's events; with what is live in the domain now and
  /// was not at the beginning, who holds that, what grew from step to step, and
  /// the steps. Ends the report. Steps that other threads call meanwhile wait;
  /// where one is running already, holders are left out: to hold what it holds
  /// might end its trace. THROWS: OutOfMemory.
  Snapshot finish();

 private:
  void add_leaks(Snapshot& snapshot);

  const memory::Domain* domain_;
  std::optional<memory::TrackHandles> tracking_{std::in_place};
  const Baseline before_;
  memory::String name_;

  std::mutex mutex_;  // of all below
  Growth growth_;
  StepLog steps_;
  std::optional<Snapshot> step_;
  const compiler::Program* shown_ = nullptr;  // in step_, to know it again
  Bytes arena_ = -1;
  int running_ = 0;  // calls of steps
  bool is_over_ = false;
};

}  // namespace neap::report
